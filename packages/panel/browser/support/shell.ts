import { spawn } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

const begin = (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
  spawn(command, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    // A group of its own, so that the whole of it can be stopped.
    detached: true
  })

/** Runs a program to its end and answers what it wrote. Throws if it fails. */
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

/** Runs commands as somebody who pastes them into a shell in a clone of the repository. */
export const runShell = (commands: string, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  run("sh", ["-ec", commands], env)

/** Runs a TypeScript program in a clone of the repository. */
export const runTypeScript = (program: string, env: NodeJS.ProcessEnv): Promise<string> =>
  run(process.execPath, ["--input-type=module-typescript", "--eval", program], env)

/** Begins commands that go on until they are stopped. Answers how to stop them. */
export const beginShell = (commands: string): (() => void) => {
  const child = begin("sh", ["-ec", commands], {})
  child.stdout.resume()
  child.stderr.resume()
  const stop = () => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, "SIGTERM")
    } catch {
      // The commands have ended by themselves.
    }
  }
  process.once("exit", stop)
  return stop
}
