# Made by make release.
class Amber < Formula
  desc "Durable memory for AI agents"
  homepage "[[.Homepage]]"
  version "[[.Number]]"
  license "[[.Licence]]"

  on_macos do
    on_arm do
      url "[[.Base]]/[[.Name]]_[[.Number]]_darwin_arm64.tar.gz"
      sha256 "[[index .Sums "darwin_arm64"]]"
    end
    on_intel do
      url "[[.Base]]/[[.Name]]_[[.Number]]_darwin_amd64.tar.gz"
      sha256 "[[index .Sums "darwin_amd64"]]"
    end
  end

  on_linux do
    on_arm do
      url "[[.Base]]/[[.Name]]_[[.Number]]_linux_arm64.tar.gz"
      sha256 "[[index .Sums "linux_arm64"]]"
    end
    on_intel do
      url "[[.Base]]/[[.Name]]_[[.Number]]_linux_amd64.tar.gz"
      sha256 "[[index .Sums "linux_amd64"]]"
    end
  end

  def install
    bin.install "amber"
    generate_completions_from_executable(bin/"amber", "completion")
  end

  service do
    run [opt_bin/"amber", "serve", "--log-json"]
    keep_alive true
  end

  test do
    system bin/"amber", "--home", testpath/"home", "remember", "We chose PostgreSQL for JSONB"
    assert_match "JSONB", shell_output("#{bin}/amber --home #{testpath}/home recall database")
  end
end
