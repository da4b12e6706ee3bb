"""How to choose: where each solver, or each kind of fact, pays."""
