"""The build of the Python package, as pip asks for it (PEP 517): a wheel is a zip file of python/tessera and the library.

It needs nothing but Python, so `pip install .` works without a network. The library is build/release/libtessera.so.0;
when it is not there, CMake builds it. TESSERA_LIBRARY names another.
"""
import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "python", "tessera")
SONAME = "libtessera.so.0"


def _version():
    text = open(os.path.join(ROOT, "include", "tessera.h"), encoding="utf-8").read()
    return re.search(r'TSR_VERSION_STRING "(.*)"', text)[1]


def _library():
    found = os.environ.get("TESSERA_LIBRARY") or os.path.join(ROOT, "build", "release", SONAME)
    if not os.path.exists(found):
        for step in (["--preset", "release", "-DTESSERA_TESTS=OFF"], ["--build", "--preset", "release"]):
            subprocess.run(["cmake", *step], cwd=ROOT, check=True)
    return found


def _metadata():
    return (f"Metadata-Version: 2.1\nName: tessera\nVersion: {_version()}\n"
            "Summary: Train one wide network as many small ones and draw the winning ticket from it\n"
            "License: MIT\nRequires-Python: >=3.9\nRequires-Dist: numpy\n")


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _sources():
    return sorted(name for name in os.listdir(PACKAGE) if name.endswith((".py", ".typed")))


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; the same bytes for the same files."""
    name = f"tessera-{_version()}-{_tag()}.whl"
    info = f"tessera-{_version()}.dist-info"
    files = {f"tessera/{f}": open(os.path.join(PACKAGE, f), "rb").read() for f in _sources()}
    files[f"tessera/{SONAME}"] = open(_library(), "rb").read()
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tessera\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The committed tree."""
    name = f"tessera-{_version()}"
    path = os.path.join(sdist_directory, name + ".tar.gz")
    tree = subprocess.run(["git", "archive", "--format=tar", f"--prefix={name}/", "HEAD"], cwd=ROOT, check=True,
                          capture_output=True).stdout
    import io
    with tarfile.open(path, "w:gz") as out, tarfile.open(fileobj=io.BytesIO(tree)) as source:
        for member in source.getmembers():
            out.addfile(member, source.extractfile(member) if member.isfile() else None)
        data = _metadata().encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(data)
        out.addfile(entry, io.BytesIO(data))
    return name + ".tar.gz"
