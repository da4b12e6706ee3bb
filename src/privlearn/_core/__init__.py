"""What is released is declared here, and noise and accounting come from that."""
