import { execFile } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const repositoryRoot = fileURLToPath(new URL("../../../../", import.meta.url))

export interface Snippet {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly code: string
}

/** Returns all code blocks on the pages that users read. */
export const readSnippets = (): ReadonlyArray<Snippet> =>
  globSync(["*.md", "docs/*.md", "examples/*.md", "packages/*/README.md"], { cwd: repositoryRoot })
    .toSorted()
    .flatMap((page) => {
      const text = readFileSync(repositoryRoot + page, "utf8")
      return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(
        ({ index, 1: language = "", 2: code = "" }) => ({
          page,
          line: text.slice(0, index).split("\n").length,
          language,
          code
        })
      )
    })

/** Returns the snippet as a program. Creates a client if the snippet does not. */
export const programOf = ({ code }: Snippet): string =>
  code.includes('from "@scheduling/sdk')
    ? code
    : `import { SchedulingClient } from "@scheduling/sdk"\nconst client = new SchedulingClient()\n${code}`

export interface ProgramResult {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

export const runProgram = (
  command: string,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = {},
  stdin = ""
): Promise<ProgramResult> =>
  new Promise((resolve) => {
    const options = {
      cwd: repositoryRoot,
      timeout: 60_000,
      env: { PATH: process.env["PATH"], ...env }
    }
    const child = execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr })
    )
    // A program can exit before it has read all of its input.
    child.stdin?.on("error", () => {}).end(stdin)
  })

/**
 * Fails for statuses of 400 and above, which `curl -s` would treat as success. A stream (`-sN`)
 * never ends, so it is cut off after two seconds.
 */
const strict = `
set -euo pipefail
curl() {
  case " $* " in
    *" -sN "*) command curl -fs -m 2 "$@" || [ $? = 28 ] ;;
    *) command curl -fsS "$@" ;;
  esac
}
`

export const runShell = (code: string, env: NodeJS.ProcessEnv): Promise<ProgramResult> =>
  runProgram("bash", ["--norc", "-c", strict + code], env)
