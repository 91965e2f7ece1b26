#!/bin/sh
# Prints the Homebrew formula of a release for Linux.
#     formula.sh VERSION TARBALL
set -eu
address=${RELEASE_URL:-https://example.com/assay/releases}
cat <<END
class Assay < Formula
  desc "Converter and runner of Keras, Caffe and Darknet networks for Core ML"
  homepage "${RELEASE_HOMEPAGE:-https://example.com/assay}"
  url "$address/$1/$(basename "$2")"
  version "$1"
  license "Apache-2.0"
  sha256 "$(sha256sum "$2" | cut -d' ' -f1)"

  depends_on arch: :x86_64
  depends_on :linux

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
