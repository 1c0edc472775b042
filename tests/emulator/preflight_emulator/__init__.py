"""An AWS account on loopback: moto's server plus the operations that it lacks."""
