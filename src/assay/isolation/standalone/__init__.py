"""Import folder of child processes that run without the package.

Their interpreter may have no Assay, or another one. `assay_isolation` is the room `isolation` under
a name of its own; of it they may import what imports the standard library alone: `frames`,
`kernel`, `supervisor`, `values` and `zygote`.
"""
