// `argon2` is not imported by name, because older versions of Node do not export it and could not
// load this file.
import * as crypto from "node:crypto"
import { promisify } from "node:util"

export interface Argon2Parameters {
  /** Memory in KiB. */
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** Returns the common prefix of all PHC strings with these parameters. */
export const hashPrefix = ({ memoryCost, parallelism, timeCost }: Argon2Parameters): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`

/**
 * Argon2id, computed off the main thread. Hashes are PHC strings:
 * `$argon2id$v=19$m=…,t=…,p=…$salt$tag`.
 */
export interface Argon2 {
  readonly hash: (password: string | Uint8Array, parameters: Argon2Parameters) => Promise<string>
  readonly verify: (hash: string, password: string) => Promise<boolean>
}

/**
 * The implementation of `@node-rs/argon2`, which is twice as fast as Node's and available for most
 * platforms.
 */
export const nodeRsArgon2 = async (): Promise<Argon2> => {
  const { hash, verify } = await import("@node-rs/argon2")
  return { hash: (password, parameters) => hash(password, parameters), verify }
}

/** Node's own implementation, available since 24.7. */
export const nodeArgon2 = (): Argon2 => {
  const derive = promisify(crypto.argon2)
  const tagOf = (
    password: string | Uint8Array,
    salt: Buffer,
    tagLength: number,
    { memoryCost, parallelism, timeCost }: Argon2Parameters
  ) =>
    derive("argon2id", {
      message: password,
      nonce: salt,
      parallelism,
      tagLength,
      memory: memoryCost,
      passes: timeCost
    })
  return {
    hash: async (password, parameters) => {
      const salt = crypto.randomBytes(16)
      const tag = await tagOf(password, salt, 32, parameters)
      return `${hashPrefix(parameters)}${unpadded(salt)}$${unpadded(tag)}`
    },
    verify: async (hash, password) => {
      const [, memory, passes, lanes, salt, tag] = phc.exec(hash) ?? []
      if (salt === undefined || tag === undefined) throw new Error("not a hash of Argon2id")
      const expected = Buffer.from(tag, "base64")
      const actual = await tagOf(password, Buffer.from(salt, "base64"), expected.length, {
        memoryCost: Number(memory),
        timeCost: Number(passes),
        parallelism: Number(lanes)
      })
      return crypto.timingSafeEqual(actual, expected)
    }
  }
}

/**
 * Loads the binding, or Node's implementation if the binding fails to load. Each can verify the
 * other's hashes.
 */
export const loadArgon2 = (): Promise<Argon2> =>
  nodeRsArgon2().catch((cause) => {
    if (typeof crypto.argon2 === "function") return nodeArgon2()
    throw new Error(
      `cannot load Argon2 on ${process.platform} ${process.arch}: @node-rs/argon2 has no binary for it. ` +
        `Use Node 24.7 or later, which has Argon2 built in (this is ${process.version})`,
      { cause }
    )
  })

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "")
