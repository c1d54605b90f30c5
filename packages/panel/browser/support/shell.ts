import { spawn } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

const begin = (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
  spawn(command, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    // Use a process group, so that all processes that the command starts can be stopped.
    detached: true
  })

/** Runs a program and returns its output. Throws if it fails. */
const run = async (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) => {
  const child = begin(command, args, env)
  const [code, written, problems] = await Promise.all([
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
    child.stdout.toArray(),
    child.stderr.toArray()
  ])
  if (code !== 0) throw new Error(`ended with ${code}: ${Buffer.concat(problems).toString()}`)
  return Buffer.concat(written).toString()
}

/** Runs commands in a shell in a clone of the repository. */
export const runShell = (commands: string, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  run("sh", ["-ec", commands], env)

/** Runs a TypeScript program in a clone of the repository. */
export const runTypeScript = (program: string, env: NodeJS.ProcessEnv): Promise<string> =>
  run(process.execPath, ["--input-type=module-typescript", "--eval", program], env)

/** Starts commands that run until stopped. Returns a function that stops them. */
export const startShell = (commands: string): (() => void) => {
  const child = begin("sh", ["-ec", commands], {})
  child.stdout.resume()
  child.stderr.resume()
  const stop = () => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, "SIGTERM")
    } catch {
      // The commands have already finished.
    }
  }
  process.once("exit", stop)
  return stop
}
