"""The lists of packages that environments are made of."""

import subprocess
import sys
import zipfile

import environment
import pytest

BASE = "# the base\nnumpy==2.4.6\nnvidia-cudnn-cu13==9.19.0.56\npytorch-lightning==2.6.6\ntorch==2.11.0\ntorchvision==0.26.0\ntransformers==5.17.0\n"


def report(**packages):
    """As pip writes it, of what it would install."""
    return {"install": [{"metadata": {"name": name, "version": version}} for name, version in packages.items()]}


def test_a_list_may_change_pins_of_another(tmp_path):
    (tmp_path / "newest.txt").write_text("# a comment\nnumpy==2.4.6\ntorch==2.15.0\n")
    (tmp_path / "older.txt").write_text("# older\n-r newest.txt\ntorch==2.11.0\n")
    assert environment.listed(tmp_path / "older.txt") == "numpy==2.4.6\ntorch==2.11.0\n"


def test_a_list_is_read_without_its_comments_and_by_canonical_names():
    assert environment.pins("# a==1\nJinja2==3.1.6\nhuggingface_hub==1.33.0\n") == {"jinja2": "3.1.6", "huggingface-hub": "1.33.0"}


def test_a_release_replaces_torch_and_what_belongs_to_it_and_keeps_the_rest():
    resolved = report(torch="2.15.0", torchvision="0.29.2", triton="3.9.0", transformers="5.23.0", nvidia_cudnn_cu13="9.26.0.51", numpy="2.4.6")
    assert environment.with_release(environment.pins(BASE), resolved).splitlines() == [
        "numpy==2.4.6",
        "nvidia-cudnn-cu13==9.26.0.51",
        "pytorch-lightning==2.6.6",
        "torch==2.15.0",
        "torchvision==0.29.2",
        "transformers==5.23.0",
        "triton==3.9.0",
    ]


def test_of_nvidias_packages_only_cudnn_is_installed_and_never_two_of_it():
    resolved = report(torch="2.6.0", nvidia_cudnn_cu12="9.10.2.21", nvidia_cublas="13.4.1.3", cuda_bindings="13.5.0", cuda_toolkit="13.2.2")
    names = {line.split("==")[0] for line in environment.with_release(environment.pins(BASE), resolved).splitlines()}
    assert names == {"numpy", "pytorch-lightning", "torch", "nvidia-cudnn-cu12"}


def test_what_the_release_asks_for_besides_is_added():
    rows = environment.with_release(environment.pins(BASE), report(torch="2.15.0", httpx2="2.16.2", numpy="2.5.0")).splitlines()
    assert "httpx2==2.16.2" in rows and "numpy==2.5.0" in rows and "numpy==2.4.6" not in rows


@pytest.mark.parametrize("of", [("{list}",), ("2.15.0", "5.23.0")])
def test_nothing_is_done_twice(tmp_path, monkeypatch, of):
    made = "torch==2.15.0\ntransformers==5.23.0\n"
    (tmp_path / "list.txt").write_text(made)
    (tmp_path / ".requirements").write_text(made)
    monkeypatch.setattr(environment, "make", lambda *_: pytest.fail("made again"))
    environment.main(tmp_path, *[word.format(list=tmp_path / "list.txt") for word in of])


def test_another_release_is_installed(tmp_path, monkeypatch):
    (tmp_path / ".requirements").write_text("torch==2.14.1\ntransformers==5.23.0\n")
    made = []
    monkeypatch.setattr(environment, "make", lambda folder, _: made.append(folder))
    environment.main(tmp_path, "2.15.0", "5.23.0")
    assert made == [tmp_path]


def wheel(folder, name, version, *requires):
    """A package with nothing in it but what it asks for."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires))
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A base list, and a registry with newer and older packages than it has; an environment to install them into."""
    for folder in ("wheels", "environment"):
        (tmp_path / folder).mkdir()
    for name, version, *requires in (
        ("torch", "2.6.0"),
        ("torch", "2.11.0"),
        ("torchvision", "0.21.0", "torch==2.6.0"),
        ("torchvision", "0.26.0", "torch==2.11.0"),
        ("transformers", "4.52.4", "hub<1"),
        ("transformers", "5.17.0", "hub>=1"),
        ("hub", "0.36.2"),
        ("hub", "1.33.0"),
        ("hub", "1.34.0"),
        ("datasets", "5.0.1", "hub>=0.25"),
        ("datasets", "5.2.0", "hub>=1"),
        ("accelerate", "1.15.0", "hub>=0.21"),
        ("accelerate", "1.16.0", "hub>=0.21"),
    ):
        wheel(tmp_path / "wheels", name, version, *requires)
    (tmp_path / "base.txt").write_text("accelerate==1.15.0\ndatasets==5.2.0\nhub==1.33.0\ntorch==2.11.0\ntorchvision==0.26.0\ntransformers==5.17.0\n")
    monkeypatch.setattr(environment, "BASE", tmp_path / "base.txt")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    real = environment.pip
    monkeypatch.setattr(environment, "pip", lambda folder, *words, **options: None if "--upgrade" in words else real(folder, *words, **options))
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "environment"], check=True)
    return tmp_path / "environment"


def test_what_the_base_list_has_stays_where_a_release_accepts_it(registry):
    assert environment.resolve(registry, "2.11.0", "5.17.0") == environment.BASE.read_text()


@pytest.mark.slow("pip's own choice of a version")
def test_only_what_a_release_does_not_accept_is_another(registry):
    assert environment.resolve(registry, "2.6.0", "4.52.4").split() == ["accelerate==1.15.0", "datasets==5.0.1", "hub==0.36.2", "torch==2.6.0", "torchvision==0.21.0", "transformers==4.52.4"]


@pytest.mark.slow("pip's refusal")
def test_a_release_that_does_not_exist_is_said(registry):
    with pytest.raises(SystemExit, match="there is no torch 2.7.0 with transformers 4.52.4"):
        environment.resolve(registry, "2.7.0", "4.52.4")


def test_packages_without_bytecode_are_compiled(tmp_path):
    package = tmp_path / "lib/python3.11/site-packages"
    package.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    (package / "module.py").write_text("value = 1\n")
    (package / "of_python_2.py").write_text("print 1\n")
    environment.compile_modules(tmp_path)
    assert [file.name.split(".")[0] for file in package.glob("__pycache__/*.pyc")] == ["module"]
