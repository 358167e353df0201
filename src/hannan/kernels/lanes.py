"""Sixteen numbers at a time: the vector instructions the hot kernels are written in.

A `Lanes` value is sixteen floats (or integers) that live in registers. Numba leaves a loop of
sixteen steps scalar, because it is unrolled before the vectoriser sees it, so these operations are
given explicitly. Without the compiler (``NUMBA_DISABLE_JIT=1``) each is the equivalent NumPy
expression.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, models, register_model

from hannan.kernels.compiling import njit

WIDTH = 16

_LLVM = {
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
    types.int32: ir.IntType(32),
    types.uint8: ir.IntType(8),
    types.uint16: ir.IntType(16),
    types.uint32: ir.IntType(32),
}


class Lanes(types.Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, _vector(lanes.dtype))


def _vector(dtype):
    return ir.VectorType(_LLVM[dtype], WIDTH)


def _pattern(indices):
    return ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), indices)


def _pointer(context, builder, signature, args):
    """Address of element args[1] of the contiguous one-dimensional array args[0]."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    offset = context.cast(builder, args[1], signature.args[1], types.intp)
    vector = _vector(signature.args[0].dtype)
    return builder.bitcast(builder.gep(array.data, [offset]), ir.PointerType(vector))


@njit
def aligned(size):
    """Allocate float32 from the beginning of a cache line: loads across two lines are slow.

    The numbers are not set.
    """
    numbers = np.empty(size + WIDTH, np.float32)
    start = -(numbers.ctypes.data // 4) % WIDTH
    return numbers[start : start + size]


@intrinsic
def load(typing_context, array, offset):
    """Return array[offset : offset + 16]."""

    def generate(context, builder, signature, args):
        align = signature.args[0].dtype.bitwidth // 8
        return builder.load(_pointer(context, builder, signature, args), align=align)

    return Lanes(array.dtype)(array, offset), generate


@intrinsic
def store(typing_context, array, offset, lanes):
    """Set array[offset : offset + 16] to lanes."""

    def generate(context, builder, signature, args):
        align = signature.args[0].dtype.bitwidth // 8
        builder.store(args[2], _pointer(context, builder, signature, args), align=align)
        return context.get_dummy_value()

    return types.void(array, offset, lanes), generate


@intrinsic
def stream(typing_context, array, offset, lanes):
    """Store lanes past the caches, for numbers that are not read again soon.

    The address must be a multiple of the size of sixteen numbers.
    """

    def generate(context, builder, signature, args):
        align = WIDTH * signature.args[0].dtype.bitwidth // 8
        stored = builder.store(args[2], _pointer(context, builder, signature, args), align=align)
        one = ir.Constant(ir.IntType(32), 1)
        stored.set_metadata("nontemporal", builder.module.add_metadata([one]))
        return context.get_dummy_value()

    return types.void(array, offset, lanes), generate


@intrinsic
def splat(typing_context, number):
    """Fill every lane with one number."""

    def generate(context, builder, signature, args):
        undefined = ir.Constant(_vector(signature.args[0]), ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, first, _pattern([0] * WIDTH))

    return Lanes(number)(number), generate


@intrinsic
def add(typing_context, a, b):
    """Return a + b."""
    return a(a, b), lambda context, builder, signature, args: builder.fadd(*args)


@intrinsic
def sub(typing_context, a, b):
    """Return a - b."""
    return a(a, b), lambda context, builder, signature, args: builder.fsub(*args)


@intrinsic
def mul(typing_context, a, b):
    """Return a * b."""
    return a(a, b), lambda context, builder, signature, args: builder.fmul(*args)


@intrinsic
def widen(typing_context, a):
    """Return float32 or int32 lanes as float64 lanes."""

    def generate(context, builder, signature, args):
        convert = builder.sitofp if signature.args[0].dtype == types.int32 else builder.fpext
        return convert(args[0], _vector(types.float64))

    return Lanes(types.float64)(a), generate


@intrinsic
def where_less(typing_context, a, b, x, y):
    """Return x where a < b, else y."""

    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return x(a, b, x, y), generate


@intrinsic
def where_equal(typing_context, codes, code, x, y):
    """Return x where one of the unsigned integers in `codes` is `code`, else y."""

    def generate(context, builder, signature, args):
        kind = signature.args[0].dtype
        wanted = context.cast(builder, args[1], signature.args[1], kind)
        undefined = ir.Constant(_vector(kind), ir.Undefined)
        first = builder.insert_element(undefined, wanted, ir.Constant(ir.IntType(32), 0))
        wanted = builder.shuffle_vector(first, first, _pattern([0] * WIDTH))
        return builder.select(builder.icmp_unsigned("==", args[0], wanted), args[2], args[3])

    return x(codes, code, x, y), generate


@intrinsic
def gather(typing_context, array, places):
    """Return array[places], where places are unsigned integers."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        found = ir.Constant(_vector(signature.args[0].dtype), ir.Undefined)
        for i in range(WIDTH):
            lane = ir.Constant(ir.IntType(32), i)
            place = builder.extract_element(args[1], lane)
            place = builder.zext(place, ir.IntType(64))
            found = builder.insert_element(found, builder.load(builder.gep(data, [place])), lane)
        return found

    return Lanes(array.dtype)(array, places), generate


@intrinsic
def smallest(typing_context, a):
    """Return the smallest of the sixteen numbers."""

    def generate(context, builder, signature, args):
        best = args[0]
        for half in (8, 4, 2, 1):
            other = builder.shuffle_vector(best, best, _pattern([i ^ half for i in range(WIDTH)]))
            best = builder.select(builder.fcmp_ordered("<", other, best), other, best)
        return builder.extract_element(best, ir.Constant(ir.IntType(32), 0))

    return a.dtype(a), generate


@intrinsic
def total(typing_context, a):
    """Sum the sixteen numbers: halves are added until one number is left."""

    def generate(context, builder, signature, args):
        found = args[0]
        for half in (8, 4, 2, 1):
            order = _pattern([i ^ half for i in range(WIDTH)])
            found = builder.fadd(found, builder.shuffle_vector(found, found, order))
        return builder.extract_element(found, ir.Constant(ir.IntType(32), 0))

    return a.dtype(a), generate


def _interleave(start):
    order = [i for k in range(WIDTH // 2) for i in (start + k, WIDTH + start + k)]

    @intrinsic
    def zipped(typing_context, a, b):
        def generate(context, builder, signature, args):
            return builder.shuffle_vector(args[0], args[1], _pattern(order))

        return a(a, b), generate

    return zipped


zip_low = _interleave(0)  # a0 b0 a1 b1 .. a7 b7
zip_high = _interleave(WIDTH // 2)  # a8 b8 .. a15 b15


def _total(a):
    for half in (8, 4, 2, 1):
        a = a[:half] + a[half:]
    return a[0]


@intrinsic
def lowest_bit(typing_context, word):
    """Return the number of the lowest set bit of a word that is not zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def count_bits(typing_context, word):
    """Count the set bits of a word."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


if getattr(config, "DISABLE_JIT"):  # noqa: B009
    globals().update(
        load=lambda array, offset: array[offset : offset + WIDTH].copy(),
        store=lambda array, offset, lanes: array.__setitem__(slice(offset, offset + WIDTH), lanes),
        stream=lambda array, offset, lanes: array.__setitem__(slice(offset, offset + WIDTH), lanes),
        splat=lambda number: np.full(WIDTH, number),
        add=np.add,
        sub=np.subtract,
        mul=np.multiply,
        widen=lambda a: a.astype(np.float64),
        where_equal=lambda codes, code, x, y: np.where(codes == code, x, y),
        gather=lambda array, places: array[places],
        where_less=lambda a, b, x, y: np.where(a < b, x, y),
        smallest=np.min,
        total=_total,
        zip_low=lambda a, b: np.stack([a, b], axis=1).ravel()[:WIDTH],
        zip_high=lambda a, b: np.stack([a, b], axis=1).ravel()[WIDTH:],
        lowest_bit=lambda word: (int(word) & -int(word)).bit_length() - 1,
        count_bits=lambda word: int(word).bit_count(),
    )
