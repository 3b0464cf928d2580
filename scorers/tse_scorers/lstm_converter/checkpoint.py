"""Reads modules and tensors that `torch.save` wrote, without executing anything in the file.

A pickle is a program: it may refer to any importable function and call it. Here it can only use a fixed list of names:
plain containers, the functions that describe a tensor, and classes of modules. No name is ever imported.
A tensor becomes a description, which gets its bytes after the pickle has been read. A module becomes an object that
only has attributes. Any other name is refused. Every object that a pickle can reach is created for this load, so its
changes cannot affect later loads.

Two layouts: the zip archive of torch 1.6 and later, and the sequence of pickles of torch 0.2 to 1.5, which
the published checkpoints use.
"""

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from math import prod
from pathlib import Path
from typing import BinaryIO

import torch

MAGIC = 0x1950A86A20F9469CFC6C
"""First pickle of the older layout (`torch.serialization.MAGIC_NUMBER`)."""

_DTYPES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ByteStorage": torch.uint8,
}


class RefusedError(ValueError):
    """A file refers to an object that tensors and modules do not need."""


class Opaque:
    """A module that is reduced to its attributes; its class has the module's name."""


class StoredStorage:
    """A sequence of numbers of one type; `data` is set after the pickle has been read."""

    __slots__ = ("data", "dtype", "size")

    def __init__(self, dtype: torch.dtype, size: int) -> None:
        self.dtype = dtype
        self.size = size
        self.data = bytearray()


class StoredTensor:
    """The location of a tensor in a storage: offset, shape and stride, in elements."""

    __slots__ = ("offset", "shape", "storage", "stride")

    def __init__(
        self, storage: StoredStorage, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]
    ) -> None:
        self.storage = storage
        self.offset = offset
        self.shape = shape
        self.stride = stride

    def __setstate__(self, state: object) -> None:
        """Ignore what torch 0.3 stored with a parameter: whether it needs gradients, and hooks."""

    def load(self) -> torch.Tensor:
        """Return the tensor itself.

        Raises:
            ValueError: the tensor exceeds its storage.
        """
        try:
            if prod(self.shape) > self.storage.size:
                raise ValueError("it is larger than its storage")
            numbers = torch.frombuffer(self.storage.data, dtype=self.storage.dtype)
            return numbers.as_strided(self.shape, self.stride, self.offset).clone()
        except (ValueError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
            raise ValueError(f"A tensor of shape {self.shape} is damaged: {error}.") from error


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that supports only containers, descriptions of tensors, and opaque modules.

    Attributes:
        storages: the storages that the pickle refers to, by key.

    Args:
        file: the pickle.
        shown: the file's name in errors.
    """

    def __init__(self, file: BinaryIO, shown: str) -> None:
        super().__init__(file, encoding="utf-8")
        self.shown = shown
        self.storages: dict[str, StoredStorage] = {}
        self._admitted = _admitted()

    def find_class(self, module: str, name: str) -> object:
        """Return the replacement for a name, without importing anything.

        Raises:
            RefusedError: tensors and modules do not need the name.
        """
        key = (module, name)
        if key not in self._admitted:
            is_module = name == "RNNModel" or (module.startswith("torch.nn.modules.") and name.isidentifier())
            if not is_module and key != ("torch.backends.cudnn.rnn", "Unserializable"):
                raise RefusedError(
                    f"{self.shown} refers to {module}.{name}, which a checkpoint does not need. Nothing in the "
                    "file was executed and nothing was converted. Get the checkpoint from its authors."
                )
            self._admitted[key] = type(name, (Opaque,), {})
        return self._admitted[key]

    def persistent_load(self, pid: object) -> object:
        """Return a storage of the pickle, or the class of a module.

        Raises:
            RefusedError: the reference is neither of them.
        """
        match pid:
            case ("module", type() as opaque, *_):  # saved with its source code, which is not read
                return opaque
            case ("storage", torch.dtype() as dtype, str() as key, _, int() as size, *view) if size >= 0:
                storage = self.storages.setdefault(key, StoredStorage(dtype, size))
                match view:
                    case [] | [None]:
                        return storage, 0
                    case [(str(), int() as start, int())]:
                        return storage, start
        raise RefusedError(f"{self.shown} refers to {str(pid)[:80]!r}, which is not a tensor storage.")


def read_checkpoint(path: Path | str) -> object:
    """Return the content of a checkpoint: containers, `StoredTensor`s and `Opaque` modules.

    Raises:
        RefusedError: the file refers to other objects; nothing in it was executed.
        ValueError: the file does not exist, is damaged, or is not a checkpoint.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read_zip(file, path.name) if zipfile.is_zipfile(file) else _read_sequence(file, path.name)
    except RefusedError:
        raise
    except OSError as error:
        raise ValueError(
            f"The checkpoint {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    except _DAMAGED as error:
        raise ValueError(
            f"{path} could not be read as a checkpoint: {type(error).__name__}: {error}. Expected a complete "
            "file that torch.save wrote, not an archive of it."
        ) from error


_DAMAGED = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, LookupError, OverflowError,
    MemoryError, RecursionError, NotImplementedError, zipfile.BadZipFile,
)  # fmt: skip


def _read_zip(file: BinaryIO, shown: str) -> object:
    with zipfile.ZipFile(file) as archive:
        names = {info.filename: info for info in archive.infolist()}
        if any(info.compress_type != zipfile.ZIP_STORED for info in names.values()):
            raise ValueError("it is compressed, which torch.save never does")
        # Entries that share their bytes could together be far larger than the file.
        if sum(info.file_size for info in names.values()) > os.fstat(file.fileno()).st_size:
            raise ValueError("its entries are longer than the file")
        pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise ValueError(f"as an archive it should hold one data.pkl, not {len(pickles)}")
        folder = pickles[0].removesuffix("data.pkl")
        if names.get(f"{folder}byteorder") and archive.read(f"{folder}byteorder") != b"little":
            raise ValueError("its numbers are big-endian")
        unpickler = RestrictedUnpickler(io.BytesIO(archive.read(pickles[0])), shown)
        root = unpickler.load()
        for key, storage in unpickler.storages.items():
            storage.data = _storage_bytes(archive.read(f"{folder}data/{key}"), storage)
    return root


def _read_sequence(file: BinaryIO, shown: str) -> object:
    file.seek(0)
    magic, protocol, system = (RestrictedUnpickler(file, shown).load() for _ in range(3))
    if magic != MAGIC or protocol != 1001 or not system["little_endian"]:
        raise ValueError("it does not begin like a file of torch.save")
    unpickler = RestrictedUnpickler(file, shown)
    root = unpickler.load()
    for key in RestrictedUnpickler(file, shown).load():
        storage = unpickler.storages[key]
        size = int.from_bytes(file.read(8), "little", signed=True)
        if size != storage.size:
            raise ValueError(f"its storage {key} has {size} numbers instead of {storage.size}")
        storage.data = _storage_bytes(file.read(size * storage.dtype.itemsize), storage)
    return root


def _storage_bytes(data: bytes, storage: StoredStorage) -> bytearray:
    if len(data) != storage.size * storage.dtype.itemsize:
        raise ValueError(
            f"a storage has {len(data)} bytes instead of {storage.size * storage.dtype.itemsize}"
        )
    return bytearray(data)


def _admitted() -> dict[tuple[str, str], object]:
    """Return the names that a pickle may use besides modules, with their replacements; new objects at each call."""

    def rebuild_tensor(
        place: tuple[StoredStorage, int],
        offset: int,
        shape: tuple[int, ...],
        stride: tuple[int, ...],
        *_: object,
    ) -> StoredTensor:
        storage, start = place
        return StoredTensor(storage, start + offset, shape, stride)

    def rebuild_parameter(data: object, *_: object) -> object:
        return data

    return {
        ("collections", "OrderedDict"): OrderedDict,
        ("builtins", "set"): set,
        ("__builtin__", "set"): set,
        ("torch", "Size"): tuple,
        ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
        ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
        ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
        ("torch.nn.parameter", "Parameter"): rebuild_parameter,  # torch 0.2 and 0.3
        **{(module, name): dtype for module in ("torch", "torch.cuda") for name, dtype in _DTYPES.items()},
    }
