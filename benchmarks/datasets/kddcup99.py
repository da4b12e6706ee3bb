"""Features of KDD Cup 1999 (network connections) by constants: no scale comes from the rows.

Sources: the task description of the competition (Stolfo et al. 1999), which says what each column
is, the header of NSL-KDD (Tavallaee et al. 2009), which lists every protocol, service and flag of
the full data, and published summaries of the data.

- Rates are shares and indicators are 0 or 1, so they stay as they are, within [0, 1].
- Counters are heavy-tailed: log(1 + x) / log(1 + top). Tops by meaning: a simulated day of 86,400
  seconds, a gigabyte each way. The two windows of connections end at 511 and 255 in the published
  summaries. What has no natural top gets a round one: 10 for what hardly happens in a session (a
  shell, a failed login), 100 for what may (a file made), 1,000 for what a script repeats (root
  accesses). A top that is too high costs little under a logarithm.
- Each of the three symbolic columns becomes one 0/1 column per documented word. A word that is not
  documented gets no 1 at all.

Labels: 1 for any attack, -1 for "normal".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets.columns import indicator_names, indicators, matrix

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CATEGORIES", "RATES", "TOPS", "feature_names", "features", "labels"]

TOPS = {
    "duration": 86_400,
    "src_bytes": 1_000_000_000,
    "dst_bytes": 1_000_000_000,
    "wrong_fragment": 10,
    "urgent": 10,
    "hot": 100,
    "num_failed_logins": 10,
    "num_compromised": 1_000,
    "num_root": 1_000,
    "num_file_creations": 100,
    "num_shells": 10,
    "num_access_files": 10,
    "num_outbound_cmds": 10,
    "count": 511,
    "srv_count": 511,
    "dst_host_count": 255,
    "dst_host_srv_count": 255,
}
RATES = (
    *("land", "logged_in", "root_shell", "su_attempted", "is_host_login", "is_guest_login"),
    *("serror_rate", "srv_serror_rate", "rerror_rate", "srv_rerror_rate"),
    *("same_srv_rate", "diff_srv_rate", "srv_diff_host_rate"),
    *("dst_host_same_srv_rate", "dst_host_diff_srv_rate", "dst_host_same_src_port_rate"),
    *("dst_host_srv_diff_host_rate", "dst_host_serror_rate", "dst_host_srv_serror_rate"),
    *("dst_host_rerror_rate", "dst_host_srv_rerror_rate"),
)
_LISTS = {
    "protocol_type": "tcp udp icmp",
    "service": "aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i "
    "efs exec finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 imap4 "
    "IRC iso_tsap klogin kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn "
    "netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje shell "
    "smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path "
    "vmnet whois X11 Z39_50",
    "flag": "OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH",
}
CATEGORIES = {column: tuple(words.split()) for column, words in _LISTS.items()}


def feature_names() -> list[str]:
    """Names of the columns of `features`."""
    return [*TOPS, *RATES, *indicator_names(CATEGORIES)]


def features(frame: pd.DataFrame) -> np.ndarray:
    """The matrix of features, every value in [0, 1]."""
    columns = [
        np.clip(np.log1p(np.maximum(_numbers(frame[column]), 0.0)) / np.log1p(top), 0.0, 1.0)
        for column, top in TOPS.items()
    ]
    columns += [np.clip(_numbers(frame[column]), 0.0, 1.0) for column in RATES]
    return matrix(columns + indicators(frame, CATEGORIES))


def labels(target: np.ndarray) -> np.ndarray:
    """1 for an attack of any kind, -1 for a normal connection."""
    return np.where(np.asarray(target, dtype=str) == "normal", -1.0, 1.0)


def _numbers(values: object) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)
