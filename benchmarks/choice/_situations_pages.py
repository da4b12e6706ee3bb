def tables(results):
    return ""
