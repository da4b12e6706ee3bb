def draw(results):
    return {}
