"""Certificates: a claim about a backend that others can verify offline (docs/certificate.md).

`conform certify` runs what the claim needs (`issue`), keeps the answers (`outputs`), binds every case and answer to one
Merkle root (`merkle`), says which levels are held (`levels`), and signs all of that as an in-toto statement
(`statement`, `envelope`). `conform verify` takes a folder of somebody else's apart again (`verify`, `rejudge`).
"""
