"""Calls of operations on complex numbers: src/ops/complex_numbers.h."""

from cases import call, case
from ops_cases import _torch

COMPLEX = {
    "view_as_complex": lambda x: _torch().view_as_complex(x[0]),
    "view_as_real": lambda x: _torch().view_as_real(x[0]),
    "polar": lambda x: _torch().polar(x[0], x[1]),
}
for name, function in COMPLEX.items():
    call(name)(lambda inputs, args, function=function: function(inputs))

for flag in (" g", ""):
    case("view_as_complex", f"float32 2x40x8x16x2{flag}")
    case("view_as_complex", f"float32 2x40x8x16x2 p02134{flag}")
    case("view_as_complex", f"float32 2x40x8x16x2 p02134{flag}", gradient="0123")
    case("view_as_real", f"complex64 2x8x40x16{flag}")
    case("view_as_real", f"complex64 2x8x40x16 p0213{flag}")
    case("mul", f"complex64 2x8x40x16{flag}", "complex64 1x1x40x16")
    case("mul", f"complex64 2x8x40x16 p0213{flag}", "complex64 1x1x40x16")
    case("mul", "complex64 1x1x40x16", f"complex64 2x8x40x16{flag}")
    case("mul", f"complex64 2x8x40x16{flag}", f"complex64 2x1x40x16{flag}")
    case("mul", f"complex64 2x8x40x16{flag}", "float32 1x1x40x16")
case("polar", "float32 1x40x16", "float32 1x40x16")
case("polar", "float32 2x40x16", "float32 2x40x16")
