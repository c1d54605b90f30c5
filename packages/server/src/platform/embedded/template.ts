/**
 * The files of a new store packed into one, from which a store in memory starts in 0.4 s and not
 * in 2 s: a suite of tests opens dozens. Kept for the user, not for the project, between runs.
 */
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { initDbStartParams } from "./settings.ts"

const digestBytes = 32

const digestOf = (tar: Uint8Array): Buffer => createHash("sha256").update(tar).digest()

/** Of the engine and the parameters that made it, so a template is never another version's. */
export const templateFile = (directory: string): string => {
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite")
  const manifest = fs.readFileSync(path.join(path.dirname(entry), "../package.json"), "utf8")
  const { version }: { readonly version: string } = JSON.parse(manifest)
  const parameters = digestOf(Buffer.from(initDbStartParams.join("\n"))).toString("hex", 0, 4)
  return path.join(directory, `pglite-${version}-${parameters}.template`)
}

export const templateDirectory = (): string =>
  path.join(os.tmpdir(), `scheduling-service-${process.getuid?.() ?? os.userInfo().username}`)

/**
 * The name is known to everybody and others may write to /tmp: someone else could have made the
 * directory first and fill it with a database of their own.
 */
export const claimTemplateDirectory = (directory: string): void => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const uid = process.getuid?.()
  const { mode, uid: owner } = fs.lstatSync(directory)
  const isDirectory = (mode & fs.constants.S_IFMT) === fs.constants.S_IFDIR
  // Without user ids, on Windows, the temporary directory belongs to one user.
  if (!isDirectory || (uid !== undefined && (owner !== uid || (mode & 0o077) !== 0))) {
    throw new Error(`${directory} is not a directory that only this user can enter: remove it`)
  }
}

/** The packed files; nothing where there are none, or not the ones that were written. */
export const readTemplate = (file: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!fs.existsSync(file)) return undefined
  const bytes = fs.readFileSync(file)
  const tar = bytes.subarray(digestBytes)
  return digestOf(tar).equals(bytes.subarray(0, digestBytes)) ? tar : undefined
}

/** Written aside and renamed, for two processes may be here at once. */
export const writeTemplate = (file: string, tar: Uint8Array): void => {
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, digestOf(tar), { mode: 0o600 })
  fs.appendFileSync(draft, tar)
  fs.renameSync(draft, file)
}
