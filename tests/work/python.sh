#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Python: a virtual environment, pip from local wheels, unittest and pytest, pip install --user. The wheels are made here.
. "$(dirname "$0")/support/lib.sh"
need python3
python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "python3 has no venv; script/setup --test installs it" && exit 77; }
python3 -c 'import pytest' 2>/dev/null || { echo "pytest is not installed; script/setup --test installs it" && exit 77; }

# A wheel is a zip file with a list of what is in it.
cat >make-wheel.py <<'END'
import base64, hashlib, sys, zipfile
name, version, requires = sys.argv[1], sys.argv[2], sys.argv[3:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": f"VERSION = '{version}'\n\ndef main():\n    print('{name}', VERSION)\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires),
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
}
record = ""
with zipfile.ZipFile(f"wheels/{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text)}\n"
        wheel.writestr(path, text)
    wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
END
mkdir wheels tests
python3 make-wheel.py left_example 1.2.0
python3 make-wheel.py right_example 2.0.1 'left_example>=1.0'
cat >tests/test_sample.py <<'END'
import multiprocessing, tempfile, threading, unittest
import left_example, right_example

class Sample(unittest.TestCase):
    def test_versions(self):
        self.assertEqual((left_example.VERSION, right_example.VERSION), ("1.2.0", "2.0.1"))

    def test_processes_share_a_queue(self):
        queue = multiprocessing.Queue()
        process = multiprocessing.Process(target=queue.put, args=(42,))
        process.start()
        self.assertEqual(queue.get(timeout=20), 42)
        process.join()

    def test_semaphores_and_shared_memory(self):
        from multiprocessing import shared_memory
        block = shared_memory.SharedMemory(create=True, size=4096)
        block.buf[0] = 7
        again = shared_memory.SharedMemory(block.name)
        self.assertEqual(again.buf[0], 7)
        again.close()
        block.close()
        block.unlink()

    def test_temporary_files(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x")
END

works_sh "a virtual environment" 'python3 -m venv .venv; . .venv/bin/activate; python -c "import sys; assert sys.prefix != sys.base_prefix"'
works_sh "pip install from local wheels" '. .venv/bin/activate; pip install --no-index --find-links wheels right_example; right_example'
expect_contains "the program of a wheel" "right_example 2.0.1" "$out"
works_sh "in a second run" '.venv/bin/pip freeze | sort'
expect_equal "both are installed" "left_example==1.2.0
right_example==2.0.1" "$(tr -d '\r' <<<"$out" | sed 's/ @ .*//; s/-/_/g')"
works "unittest" .venv/bin/python -m unittest discover -s tests
expect_contains "four tests" "Ran 4 tests" "$err"
works_sh "pytest" 'PYTHONPATH=$(echo .venv/lib/python3*/site-packages) python3 -m pytest -q tests'
expect_contains "the same four" "4 passed" "$out"
works_sh "pip install --user" 'PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --user --no-index --find-links wheels left_example'
home=$(private_home)
works_sh "and it is there the next time" 'python3 -c "import left_example; print(left_example.__file__)"; ~/.local/bin/left_example'
expect_contains "at the home's own path" "$HOME/.local/lib/python3" "$out"
expect "in the private home" test -x "$home/.local/bin/left_example"
# A build puts what it made into pip's cache: a source package without a wheel.
mkdir -p source/src/source_example
cat >source/pyproject.toml <<'END'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "source_example"
version = "1.0"
END
cat >source/backend.py <<'END'
import os, subprocess, sys
def build_wheel(directory, config_settings=None, metadata_directory=None):
    top = os.path.dirname(os.path.abspath(__file__))
    os.makedirs("wheels", exist_ok=True)
    subprocess.run([sys.executable, os.path.join(top, "make-wheel.py"), "source_example", "1.0"], check=True)
    name = "source_example-1.0-py3-none-any.whl"
    os.replace(os.path.join("wheels", name), os.path.join(directory, name))
    return name
END
cp make-wheel.py source/
tar -czf source_example-1.0.tar.gz --transform 's,^source,source_example-1.0,' source
works_sh "pip builds a source package" '.venv/bin/pip install --no-index ./source_example-1.0.tar.gz; .venv/bin/source_example'
works_sh "pip's cache is private and kept" 'test -d "$(.venv/bin/pip cache dir)"; .venv/bin/pip cache list'
expect_contains "the wheel it built" source_example "$out"
expect "in the private home" test -d "$home/.cache/pip"

finish_work
