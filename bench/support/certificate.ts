import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Certificate extends Disposable {
  readonly cert: string
  readonly key: string
  /** The certificate's path, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string
}

/** Creates a self-signed certificate for 127.0.0.1 with `openssl`. */
export const makeCertificate = (): Certificate => {
  const folder = mkdtempSync(join(tmpdir(), "scheduling-bench-"))
  const file = join(folder, "cert.pem")
  const keyFile = join(folder, "key.pem")
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=bench",
      "-addext",
      "subjectAltName=IP:127.0.0.1",
      "-keyout",
      keyFile,
      "-out",
      file
    ],
    { stdio: "pipe" }
  )
  return {
    cert: readFileSync(file, "utf8"),
    key: readFileSync(keyFile, "utf8"),
    file,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true })
  }
}
