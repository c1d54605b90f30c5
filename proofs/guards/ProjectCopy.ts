import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

export interface ProjectCopy extends Disposable {
  readonly read: (file: string) => string
  readonly write: (file: string, text: string) => void
  /** Returns the names of the file's failing tests, stopping at the first failure. */
  readonly failuresOf: (testFile: string) => Promise<ReadonlyArray<string>>
}

export const makeProjectCopy = (): ProjectCopy => {
  const folder = mkdtempSync(join(tmpdir(), "scheduling-guards-"))
  for (const name of ["packages", "scripts", "package.json", "tsconfig.json", "vitest.config.ts"]) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (source) => basename(source) !== "node_modules"
    })
  }
  linkPackages(folder)
  const pathOf = (file: string) => join(folder, file)
  return {
    read: (file) => readFileSync(pathOf(file), "utf8"),
    write: (file, text) => writeFileSync(pathOf(file), text),
    failuresOf: (testFile) => failuresOf(folder, testFile),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true })
  }
}

/** Links the installed packages. The project's own packages link to the copies. */
const linkPackages = (folder: string) => {
  const installed = join(root, "node_modules")
  const linked = join(folder, "node_modules")
  mkdirSync(join(linked, "@scheduling"), { recursive: true })
  for (const name of readdirSync(installed)) {
    if (name !== "@scheduling") symlinkSync(join(installed, name), join(linked, name))
  }
  for (const name of readdirSync(join(installed, "@scheduling"))) {
    symlinkSync(join(folder, "packages", name), join(linked, "@scheduling", name))
  }
}

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly message: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
  }>
}

const failuresOf = async (folder: string, testFile: string): Promise<ReadonlyArray<string>> => {
  const report = join(folder, "report.json")
  rmSync(report, { force: true })
  await run(folder, [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--bail=1",
    "--reporter=json",
    `--outputFile=${report}`,
    testFile
  ])
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  return testResults.flatMap(({ assertionResults, message }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed")
    if (failed.length === 0 && message !== "") throw new Error(`${testFile}: ${message}`)
    return failed.map(({ fullName }) => fullName.trim())
  })
}

const run = async (cwd: string, args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, args, { cwd, stdio: "ignore" })
  await once(child, "close")
}
