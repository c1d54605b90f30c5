import { execFileSync } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Runs a command and returns its output. If it fails, the error contains the output. */
export const run = (
  what: string,
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: NodeJS.ProcessEnv = process.env
): string => {
  try {
    const stdio = ["ignore", "pipe", "pipe"] as const
    return execFileSync(command, args, { cwd, encoding: "utf8", env, stdio: [...stdio] })
  } catch (error) {
    const said = (["stdout", "stderr"] as const).map((stream) =>
      error instanceof Error && stream in error ? String(Reflect.get(error, stream)) : ""
    )
    throw new Error(`${what} failed:\n${said.join("")}`, { cause: error })
  }
}

export const printLine = (text: string): void => void process.stdout.write(`${text}\n`)

/** Writes files into a project and creates their folders. */
export const writeFiles = async (
  project: string,
  files: Readonly<Record<string, string | object>>
): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    const file = join(project, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, typeof content === "string" ? content : JSON.stringify(content))
  }
}

/** Installs exact versions, so that tomorrow's check is the same as today's. */
export const npmInstall = (project: string, packages: ReadonlyArray<string>): void => {
  const options = ["--save-exact", "--no-audit", "--no-fund", "--prefer-offline"]
  run("npm install", "npm", ["install", ...options, ...packages], project)
}
