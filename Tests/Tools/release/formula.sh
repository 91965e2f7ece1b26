#!/bin/sh
# Prints the Homebrew formula of a release for Linux, of one or both architectures.
#     formula.sh VERSION TARBALL…
set -eu
address=${RELEASE_URL:-https://example.com/assay/releases}
version=$1
shift
cat <<END
class Assay < Formula
  desc "Converter and runner of Keras, Caffe and Darknet networks for Core ML"
  homepage "${RELEASE_HOMEPAGE:-https://example.com/assay}"
  version "$version"
  license "Apache-2.0"

  depends_on :linux

END
for tarball; do
  case $tarball in *aarch64*) kind=arm ;; *) kind=intel ;; esac
  cat <<END
  on_$kind do
    url "$address/$version/$(basename "$tarball")"
    sha256 "$(sha256sum "$tarball" | cut -d' ' -f1)"
  end

END
done
cat <<'END'
  def install
    bin.install "bin/assay", "bin/assay-hdf5"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/assay"
    zsh_completion.install "share/zsh/site-functions/_assay"
    fish_completion.install "share/fish/vendor_completions.d/assay.fish"
    doc.install Dir["share/doc/assay/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/assay --version")
  end
end
END
