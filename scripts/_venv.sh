# shellcheck shell=bash
# Sourced by the other scripts, from the project's folder.
#
#   use_venv [VERSION]    makes the virtual environment if it is missing or out of date, and sets VENV
#   find_python [VERSION] prints an interpreter of that version (3.13, say), or any supported one

LOCK_FILE=requirements/lock.txt

# python_version COMMAND: prints its version as 3.13.0, or fails where it does not start.
python_version() {
    "$1" -c 'import platform; print(platform.python_version())' 2>/dev/null
}

is_supported() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local wanted=${1:-} candidate prefix
    if [ -z "$wanted" ]; then
        for candidate in python3 python3.13 python3.12 python3.11; do
            if is_supported "$candidate"; then
                echo "$candidate"
                return
            fi
        done
        echo "nodestep needs Python 3.11 or newer, and none was found on PATH." >&2
        return 1
    fi

    # A command on PATH may be a pyenv shim that does not start, so each candidate is tried.
    prefix=$(pyenv prefix "$wanted" 2>/dev/null) || prefix=
    for candidate in "python$wanted" python3 ${prefix:+"$prefix/bin/python"}; do
        case "$(python_version "$candidate")" in
            "$wanted" | "$wanted".*)
                if is_supported "$candidate"; then
                    echo "$candidate"
                    return
                fi
                echo "nodestep needs Python 3.11 or newer, not $wanted." >&2
                return 1
                ;;
        esac
    done
    echo "Python $wanted was found neither on PATH nor in pyenv." >&2
    return 1
}

# stamp_is FILE TEXT: whether FILE holds TEXT.
stamp_is() {
    [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]
}

# use_venv [VERSION]: .venv, or .venv-VERSION. It is made anew when the lock file or the Python
# changes; a change of pyproject.toml only installs the package again.
use_venv() {
    local version=${1:-} python packages package
    VENV=.venv${version:+-$version}
    python=$(find_python "$version") || return 1
    packages="$(python_version "$python") $(cksum <"$LOCK_FILE")"
    package=$(cksum <pyproject.toml)

    if ! [ -x "$VENV/bin/python" ] || ! stamp_is "$VENV/packages.stamp" "$packages"; then
        echo "Making $VENV with Python ${packages%% *} and the packages of $LOCK_FILE ..."
        "$python" -m venv --clear "$VENV" || return 1
        pip_install --requirement "$LOCK_FILE" || return 1
        echo "$packages" >"$VENV/packages.stamp"
    fi
    if ! stamp_is "$VENV/package.stamp" "$package"; then
        pip_install --no-deps --no-build-isolation --editable . || return 1
        echo "$package" >"$VENV/package.stamp"
    fi
}

# Quiet twice: errors only.
pip_install() {
    "$VENV/bin/python" -m pip install --quiet --quiet --disable-pip-version-check "$@"
}
