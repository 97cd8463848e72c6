"""The simulator: the real engine, storage, coordination, hub and worker loop, in one thread on a virtual clock.

A seed decides every interleaving and every fault. `world` puts things together, `scheduling` runs them, `dice` decides,
`oracle` remembers what was asked and made, `watching` checks each transaction. How to use it: docs/simulation.md.
"""
