import { randomUUID } from "node:crypto"
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync
} from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { env } from "node:process"
import { setTimeout } from "node:timers/promises"
import { now } from "./clock.ts"
import { CommandError } from "./Command.ts"

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** The service, credential and workspace that commands use. */
export interface ContextSettings {
  readonly url: string
  readonly api_key?: string
  readonly tokens?: Tokens
  readonly workspace_id?: string
}

export interface Config {
  readonly current: string | null
  readonly contexts: Readonly<Record<string, ContextSettings>>
}

export const configPath = (): string => {
  const { XDG_CONFIG_HOME: home } = env
  return join(home || join(homedir(), ".config"), "scheduling", "config.json")
}

export const readConfig = (): Config => {
  try {
    return JSON.parse(readFileSync(configPath(), "utf8"))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: null, contexts: {} }
    throw new CommandError(`${configPath()} cannot be read: ${String(error)}`)
  }
}

/**
 * Writes the file, which only the user can read. It is replaced atomically, so that no other
 * process reads half of it.
 */
export const writeConfig = (config: Config): void => {
  const path = configPath()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}`
  writeFileSync(temporary, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  chmodSync(temporary, 0o600)
  renameSync(temporary, path)
}

export const saveContext = (name: string, settings: ContextSettings): void => {
  const config = readConfig()
  writeConfig({ current: name, contexts: { ...config.contexts, [name]: settings } })
}

const staleMs = 15_000

/**
 * Runs `work` while no other process runs it. Two processes that refresh a session at the same time
 * would use the same refresh token twice, which ends the session.
 */
export const withConfigLock = async <A>(work: () => Promise<A>): Promise<A> => {
  const lock = `${configPath()}.lock`
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch {
      if (isStale(lock)) release(lock)
      else await setTimeout(50)
    }
  }
  try {
    return await work()
  } finally {
    release(lock)
  }
}

const isStale = (lock: string): boolean => {
  try {
    return now() - statSync(lock).mtimeMs > staleMs
  } catch {
    return false
  }
}

const release = (lock: string): void => {
  try {
    rmdirSync(lock)
  } catch {
    // Another process has released the lock.
  }
}
