import json
import os
import runpy
import sys

try:
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec
except ImportError:
    sys.exit("Python " + sys.version.split()[0] + " is too old: dsconv needs 3.9")

packages = {}
for name in ("dsconv", "torch", "torchvision", "Pillow"):
    try:
        packages[name] = version(name) or ""
    except PackageNotFoundError:
        pass
package = find_spec("dsconv")
for folder in package.submodule_search_locations or () if package else ():
    if not os.path.exists(os.path.join(folder, "_library.py")):  # another project has this name in package indexes
        packages["dsconv"], packages["other"] = "", folder
cuda = ""
try:
    torch = find_spec("torch")
    folder = os.path.dirname(torch.origin)
    cuda = runpy.run_path(os.path.join(folder, "version.py"))["cuda"] or ""
except Exception:
    pass  # no torch, or one that is built otherwise
print(
    json.dumps(
        {
            "version": ".".join(map(str, sys.version_info[:3])),
            "executable": sys.executable,
            "folders": [os.path.realpath(folder) for folder in sys.path if os.path.isdir(folder)],
            "packages": packages,
            "cuda": cuda,
        }
    )
)
