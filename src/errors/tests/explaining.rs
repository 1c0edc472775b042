//! Counting, folding, order, denials, connections, and inputs of any size.
