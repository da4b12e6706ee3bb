"""Planted bugs of the ledger. Each must be caught by a test that does not know it."""

import os

import pytest

from ledger import test_ledger_closed as closed
from ledger import test_ledger_filter as filtered
from privlearn import Ledger
from privlearn.exceptions import LedgerError
from privlearn.ledger import composition_cost, entries, records, store, verify
from privlearn.ledger import filter as rules
from privlearn.ledger import ledger as handle
from privlearn.ledger.filter import Cost, Filter
from privlearn.ledger.records import Records
from privlearn.ledger.serial import terms_from_text

BUGS = {}


def caught_by(check):
    def plant(bug):
        BUGS[bug.__name__] = (bug, check)
        return bug

    return plant


def two_thirds(terms, slack):
    mu = real_mu(terms, slack)
    return mu if rules.all_gaussian(terms) else 2 / 3 * mu


real_mu = rules.dominating_mu


@caught_by(
    lambda ledger, path: filtered.test_many_small_charges_at_the_limit_keep_delta("laplace", 0.1)
)
def mu_of_other_charges_too_small(patch):
    patch.setattr(rules, "dominating_mu", two_thirds)


@caught_by(lambda ledger, path: filtered.test_failures_enter_the_sum())
def failures_are_not_added(patch):
    cost = Filter.cost
    patch.setattr(Filter, "cost", lambda *given: Cost(cost(*given).square, cost(*given).loss, 0))


@caught_by(lambda ledger, path: filtered.test_the_ledger_refuses_the_example_of_the_issue(path))
def what_is_left_follows_from_the_path(patch):
    """The old rule: whatever composes exactly with what was realised is accepted."""

    def later(records_, state, asked):
        past = [terms_from_text(row.pairs) for _, row, _ in records_.rows(state)]
        if composition_cost.within_budget(
            composition_cost.merged(*past, asked.terms), records_.budget
        ):
            return state, asked.row
        raise entries.Remaining(state, records_.budget).refusal(asked.terms, asked.plan)

    patch.setattr(entries, "_later", later)


@caught_by(
    lambda ledger, path: filtered.test_two_stages_after_a_pure_charge_with_the_kind_chosen_last(
        filtered.ISSUE, 0.5
    )
)
def a_pure_leftover_that_uses_delta_again(patch):
    """Epsilon enlarged until delta is used up, in addition to what a Gaussian may use."""
    cap = Filter.cap

    def larger(self, first, declared=False):
        found = cap(self, first, declared)
        return found if self.kind != rules.PURE else Cost(0, int(1.5 * found.loss), found.failure)

    patch.setattr(Filter, "cap", larger)


@caught_by(
    lambda ledger, path: closed.test_an_open_ledger_sees_it_at_the_next_charge(
        ledger, "DELETE FROM charges WHERE number = 2"
    )
)
def sums_are_not_compared(patch):
    patch.setattr(Records, "_compare_sums", lambda *_: None)


@caught_by(
    lambda ledger, path: closed.test_an_open_ledger_sees_it_at_the_next_charge(
        ledger, "UPDATE datasets SET parents = '[]'"
    )
)
def seals_are_not_checked(patch):
    patch.setattr(records, "_sealed", lambda *_: "seal")


@caught_by(
    lambda ledger, path: closed.test_any_change_of_any_record_is_found_when_the_file_is_opened(
        ledger, path
    )
)
def the_chain_is_not_checked(patch):
    patch.setattr(verify, "_check_chain", lambda *_: None)


@caught_by(
    lambda ledger, path: closed.test_names_that_look_alike_are_one_or_refused(ledger, "People")
)
def twins_are_not_looked_for(patch):
    patch.setattr(records, "twin_key", lambda name: name)


@caught_by(
    lambda ledger, path: closed.test_spellings_of_one_name_are_one_data_set(ledger, " people")
)
def names_are_not_normalised(patch):
    patch.setattr(handle, "normal_name", lambda name: name)


@caught_by(lambda ledger, path: closed.test_charges_are_recorded_for_all_ancestors_once(ledger))
def parents_are_not_charged(patch):
    patch.setattr(Records, "family", lambda self, name: [self.state(name)])


@caught_by(lambda ledger, path: overwriting(ledger))
def create_overwrites(patch):
    patch.setattr(store.os.path, "lexists", lambda _: False)
    patch.setattr(store, "_publish", os.replace)


def overwriting(ledger):
    with pytest.raises(LedgerError):
        Ledger.create(ledger.path, epsilon=100, delta=0.1)


@caught_by(
    lambda ledger, path: closed.test_an_old_copy_is_found_by_a_later_certificate(
        ledger, ledger.path
    )
)
def certificates_are_not_looked_up(patch):
    patch.setattr(verify, "check_certificates", lambda records_, given: len(list(given)))


@caught_by(lambda ledger, path: closed.test_a_stream_counts_its_batches(ledger))
def batches_are_not_counted(patch):
    patch.setattr(Records, "write_stream", first_batch_only(Records.write_stream))


def first_batch_only(write):
    return lambda self, stream, state, batch: write(self, stream, state, 0) if batch == 0 else None


@caught_by(lambda ledger, path: closed.test_reserved_plans_are_free_once_each(ledger))
def reservations_are_never_used_up(patch):
    unused = Records.unused
    patch.setattr(Records, "unused", lambda *given: max(1, unused(*given)))


@caught_by(
    lambda ledger, path: closed.test_files_of_earlier_versions_keep_what_was_spent("format1", path)
)
def migration_forgets_the_oldest_charge(patch):
    from privlearn.ledger import migrate

    rows = migrate._rows
    patch.setattr(migrate, "_rows", lambda *given: rows(*given)[1:] or rows(*given))


@pytest.mark.parametrize("name", BUGS)
def test_planted_bug_is_caught(name, tmp_path, monkeypatch):
    bug, check = BUGS[name]
    ledger = Ledger.create(tmp_path / "clinic.ledger", epsilon=1, delta=1e-6)
    with monkeypatch.context() as patch:
        bug(patch)
        with pytest.raises((AssertionError, pytest.fail.Exception, LedgerError, KeyError)):
            check(ledger, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_the_same_check_passes_without_the_bug(name, tmp_path):
    ledger = Ledger.create(tmp_path / "clinic.ledger", epsilon=1, delta=1e-6)
    BUGS[name][1](ledger, tmp_path)
