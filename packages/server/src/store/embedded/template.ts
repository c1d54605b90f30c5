/**
 * The files of a new store packed into one. From it a store in memory starts in 0.4 s instead of 2
 * s, and a test suite opens dozens. It is kept between runs, for the user and not for the project.
 */
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { initDbStartParams } from "./settings.ts"

const digestBytes = 32

const digestOf = (tar: Uint8Array): Buffer => createHash("sha256").update(tar).digest()

/**
 * The name depends on the engine and the parameters that made the template, so a template is never
 * used by another version.
 */
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
 * Everybody knows the name, and others may write to /tmp. Somebody else could have made the
 * directory first and put a database of their own there.
 */
export const claimTemplateDirectory = (directory: string): void => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const uid = process.getuid?.()
  const { mode, uid: owner } = fs.lstatSync(directory)
  const isDirectory = (mode & fs.constants.S_IFMT) === fs.constants.S_IFDIR
  // Windows has no user ids, but its temporary directory belongs to one user.
  if (!isDirectory || (uid !== undefined && (owner !== uid || (mode & 0o077) !== 0))) {
    throw new Error(`${directory} is not a directory that only this user can enter: remove it`)
  }
}

/** The packed files. Undefined if there are none, or if they are not the ones that were written. */
export const readTemplate = (file: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!fs.existsSync(file)) return undefined
  const bytes = fs.readFileSync(file)
  const tar = bytes.subarray(digestBytes)
  return digestOf(tar).equals(bytes.subarray(0, digestBytes)) ? tar : undefined
}

/** Written beside and renamed, because two processes may be here at once. */
export const writeTemplate = (file: string, tar: Uint8Array): void => {
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, digestOf(tar), { mode: 0o600 })
  fs.appendFileSync(draft, tar)
  fs.renameSync(draft, file)
}
