"""Counting bits of unsigned 64-bit words."""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic


@intrinsic
def lowest(typing_context, word):
    """Number of the lowest set bit of a word that is not zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def count(typing_context, word):
    """Number of set bits."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


if getattr(config, "DISABLE_JIT"):  # noqa: B009
    globals().update(
        lowest=lambda word: (int(word) & -int(word)).bit_length() - 1,
        count=lambda word: int(word).bit_count(),
    )
