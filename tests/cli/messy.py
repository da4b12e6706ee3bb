"""A file with everything that goes wrong with files, made from a seed."""

import datetime

import numpy as np

__all__ = ["HEADER", "messy_file"]

HEADER = 'Patient ID;Größe (cm);Aufnahme;Raucher;Station;Notiz;Kosten;"Wert";"Wert"'
STATIONS = ("Chirurgie", "Innere", "Pädiatrie")
TRUTH = {True: ("yes", "1", "TRUE", "Y"), False: ("no", "0", "false", "N")}


def german(value, digits=2):
    """1234.5 as 1.234,50."""
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def messy_file(path, people=3_000, seed=0, encoding="cp1252"):
    """Stays in a hospital, one to four a patient; the cost depends on the rest."""
    rng = np.random.default_rng(seed)
    lines = [HEADER]
    for person in range(people):
        height = rng.normal(172, 9)
        smokes = bool(rng.random() < 0.3)
        for _ in range(rng.integers(1, 5)):
            day = datetime.date(2024, 1, 1) + datetime.timedelta(int(rng.integers(0, 366)))
            station = int(rng.integers(0, 3))
            first, second = rng.uniform(0, 10, 2)
            cost = 800 + 25 * (height - 150) + 900 * smokes + (0, 700, -300)[station]
            cost += 150 * first + rng.normal(0, 150)
            note = '"erste Zeile\nzweite; Zeile"' if rng.random() < 0.1 else '"sagt ""gut"""'
            cells = [
                f"P{person:05d}",
                "" if rng.random() < 0.05 else german(height, 1),
                day.isoformat(),
                TRUTH[smokes][int(rng.integers(0, 4))],
                STATIONS[station],
                note,
                f"{german(max(cost, 0))} €",
                german(first),
                german(second),
            ]
            lines.append(";".join(cells))
    path.write_bytes("\r\n".join(lines).encode(encoding) + b"\r\n")
