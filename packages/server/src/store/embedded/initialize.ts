import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import {
  claimTemplateDirectory,
  readDatabaseTemplate,
  templateDirectory,
  templateFile
} from "./template.ts"

/**
 * Creates the files of the store if there are none yet. The finished directory is renamed to its
 * final name, so an interrupted run leaves only an unused directory. Each run uses a new name for
 * its directory, because the process that fills it may outlive its killed parent.
 */
export const initializeDirectory = async (
  directory: string,
  signal: AbortSignal
): Promise<void> => {
  const parent = path.dirname(directory)
  const newPrefix = `${path.basename(directory)}.new-`
  for (const name of fs.readdirSync(parent).filter((name) => name.startsWith(newPrefix))) {
    // The removal is retried, because an initdb whose parent was killed may still add files to the
    // directory.
    fs.rmSync(path.join(parent, name), { recursive: true, force: true, maxRetries: 10 })
  }
  if (fs.existsSync(path.join(directory, "PG_VERSION"))) return
  const created = fs.mkdtempSync(path.join(parent, newPrefix))
  await runInitdb("directory", created, signal)
  fs.renameSync(created, directory)
  const fd = fs.openSync(parent, "r")
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Returns the template file of in-memory stores, and creates it if it is missing. */
export const initializeTemplate = async (
  signal: AbortSignal,
  directory = templateDirectory()
): Promise<string> => {
  claimTemplateDirectory(directory)
  const file = templateFile(directory)
  if (readDatabaseTemplate(file) === undefined) await runInitdb("template", file, signal)
  return file
}

const runInitdb = (
  kind: "directory" | "template",
  target: string,
  signal: AbortSignal
): Promise<void> => {
  const script = fileURLToPath(new URL("./initdb.ts", import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ["--no-warnings", script, kind, target],
      // The environment is empty, because the environment of the service contains its secrets.
      { env: {}, killSignal: "SIGKILL", signal },
      (error, _stdout, stderr) => {
        if (error === null) resolve()
        else reject(new Error(stderr.trim() || error.message, { cause: error }))
      }
    )
  })
}
