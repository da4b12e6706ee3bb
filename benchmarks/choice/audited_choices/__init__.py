"""Lists that are found and settings that are chosen, attacked from outside."""
