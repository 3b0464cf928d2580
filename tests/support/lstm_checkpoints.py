"""The two published kinds of LSTM checkpoint, written as their authors' code writes them.

Formats after facebookresearch/colorlessgreenRNNs (src/language_models/model.py, main.py: `torch.save(model, f)`,
dictionary_corpus.py) and m-hahn/tabula-rasa-rnns (3_setup/char-lm-…-words.py: a dict of state dicts; its
WeightDrop renames the weights under dropout to `*_raw`).
"""

import io
import pickle
import struct
import sys
import types
import warnings
from collections import OrderedDict

import torch
from torch import nn

VOCABULARY = (
    "<unk> <eos> . , The the author authors that guards laugh laughs is n't like us-Soldat 's".split()
)
SENTENCES = [
    "The author laughs.",
    "The authors that the guards like laugh.",
    "The author isn't the us-Soldat, the guards like the zebra's author.",
    "laugh",
]
WORDS = [
    "The author laughs .".split(),
    "The authors that the guards like laugh .".split(),
    "The author is n't the us-Soldat , the guards like the zebra 's author .".split(),
    ["laugh"],
]
"""The same sentences as the tokenizer of the original splits them."""

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


class RNNModel(nn.Module):
    """The colorless-green model: sequence first, an explicit state, a decoder with bias."""

    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.2, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers

    def forward(self, tokens, hidden=None):
        output, hidden = self.rnn(self.drop(self.encoder(tokens)), hidden)
        return self.decoder(self.drop(output)), hidden


RNNModel.__module__ = "model"  # the published pickles name model.RNNModel
RNNModel.__qualname__ = "RNNModel"


class WordNlm:
    """The WordNLM: three modules, the LSTM's weights under dropout."""

    def __init__(self, words, embedding, hidden, layers):
        self.char_embeddings = nn.Embedding(words + 3, embedding)
        self.rnn = nn.LSTM(embedding, hidden, layers)
        self.output = nn.Linear(hidden, words + 3)

    def checkpoint(self):
        """State dicts as WeightDrop leaves them: biases first, then `*_raw`; and the optimizer's."""
        plain = self.rnn.state_dict()
        rnn = OrderedDict((name, value) for name, value in plain.items() if name.startswith("bias"))
        rnn.update((f"{name}_raw", value) for name, value in plain.items() if name.startswith("weight"))
        parameters = [*self.rnn.parameters(), *self.output.parameters(), *self.char_embeddings.parameters()]
        return {
            "rnn": rnn,
            "output": self.output.state_dict(),
            "char_embeddings": self.char_embeddings.state_dict(),
            "optim": torch.optim.SGD(parameters, lr=0.2).state_dict(),
        }

    def logprob(self, ids):
        """Sum of log P over the words of one text; id 0 opens it."""
        inputs = torch.tensor([[0, *ids[:-1]]]).T
        logits = self.output(self.rnn(self.char_embeddings(inputs))[0])
        return logits.log_softmax(-1)[range(len(ids)), 0, ids].sum().item()


def save_module(model, path):
    """`torch.save` of a whole module of the class model.RNNModel, in the layout of torch 0.2 to 1.5."""
    sys.modules["model"] = types.ModuleType("model")
    sys.modules["model"].RNNModel = RNNModel
    try:
        with warnings.catch_warnings():  # that it found no source of the class
            warnings.simplefilter("ignore")
            torch.save(model, path, _use_new_zipfile_serialization=False)
    finally:
        del sys.modules["model"]


class _Pickler03(pickle.Pickler):
    """Pickles a module as torch 0.3 did on a GPU.

    Classes of modules come as persistent ids with their source; a parameter is `Parameter(data)` followed by a
    state of three; a tensor is `_rebuild_tensor`, and its storage lies on a device that is not here.
    """

    def __init__(self, file):
        super().__init__(file, protocol=2)
        self.storages = {}
        self.classes = set()

    def persistent_id(self, obj):
        if isinstance(obj, type) and issubclass(obj, nn.Module) and obj not in self.classes:
            self.classes.add(obj)  # once; the next time by name
            return ("module", obj, "/home/somebody/model.py", "class RNNModel: ...")
        if isinstance(obj, torch.UntypedStorage):
            key = str(obj.data_ptr())
            self.storages[key] = obj
            return ("storage", torch.cuda.FloatStorage, key, "cuda:0", obj.nbytes() // 4, None)
        return None

    def reducer_override(self, obj):
        if obj is torch.cuda.FloatStorage:
            return "FloatStorage"
        if type(obj) is nn.Parameter:
            return nn.Parameter, (obj.data,), (True, False, OrderedDict())
        if type(obj) is torch.Tensor:
            place = (obj.untyped_storage(), obj.storage_offset(), tuple(obj.shape), obj.stride())
            return torch._utils._rebuild_tensor, place
        return NotImplemented


def save_as_torch_0_3(model, path):
    """The whole module in the layout and with the names that torch 0.3 used; cuDNN has flattened the LSTM."""
    parameters = list(model.rnn.parameters())
    flat = torch.cat([parameter.data.flatten() for parameter in parameters])
    for parameter, piece in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        parameter.data = piece.view_as(parameter)
    sys.modules["model"] = types.ModuleType("model")
    sys.modules["model"].RNNModel = RNNModel
    body = io.BytesIO()
    try:
        pickler = _Pickler03(body)
        pickler.dump(model)
    finally:
        del sys.modules["model"]
    with path.open("wb") as file:
        for head in (
            MAGIC,
            PROTOCOL,
            {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {}},
        ):
            pickle.dump(head, file, protocol=2)
        file.write(body.getvalue())
        pickle.dump(sorted(pickler.storages), file, protocol=2)
        for key in sorted(pickler.storages):
            storage = pickler.storages[key]
            file.write(struct.pack("<q", storage.nbytes() // 4))
            torch.empty(0, dtype=torch.uint8).set_(storage).numpy().tofile(file)
