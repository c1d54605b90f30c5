import { Context, Effect, Layer, Redacted, Schema } from "effect"
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual
} from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { AppConfig } from "./config/Config.ts"
import { makeFolder } from "./makeFolder.ts"

/**
 * Derives every key of the service from `APP_SECRET`, one per purpose, so that no key can serve
 * another purpose. Keys of retired secrets still verify and decrypt, but never sign or encrypt.
 */
export class Secrets extends Context.Service<
  Secrets,
  {
    /**
     * Returns the keys, newest first. The first key signs and encrypts; all keys verify and
     * decrypt.
     */
    readonly keys: (purpose: KeyPurpose) => KeyRing
  }
>()("@scheduling/server/core/Secrets") {
  static readonly layer: Layer.Layer<Secrets, AppSecretUnreadable, AppConfig> = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const current = config.appSecret ?? (yield* readOrCreateSecret(config.dataDir))
      return makeSecrets([current, ...config.previousAppSecrets])
    })
  )

  static readonly layerFrom = (...secrets: KeyRingOf<Redacted.Redacted>): Layer.Layer<Secrets> =>
    Layer.succeed(Secrets, makeSecrets(secrets))
}

export type KeyPurpose =
  | "check"
  | "api-key"
  | "client-secret"
  | "jwt"
  | "signing-secret"
  | "login-throttle"
  | "idempotent-request"
  | "idempotent-answer"
  | "lane"
  | "link-token"
  | "passkey-challenge"
  | "provider-sign-in"
  | "provider-token"
  | "totp"
  | "recovery-code"
  | "audit-chain"
  | "ping-url"
  | "ping-url-shown"
  | "trigger-url"
  | "trigger-url-shown"
  | "trigger-secret"
  | "notification-channel"
  | "notification-link"
  | "worker-token"
  | "completion"
  | "secret"
  | "access-token"
  | "status-page"

export interface DerivedKey {
  /**
   * The public id of the key, stored with the values it protects. It reveals nothing about the
   * secret.
   */
  readonly id: string
  /**
   * The key as a key object. Hashing with raw bytes would create a key object each time, which
   * takes 20 µs.
   */
  readonly secret: KeyObject
}

type KeyRingOf<Key> = readonly [current: Key, ...retired: Array<Key>]

export type KeyRing = KeyRingOf<DerivedKey>

export class AppSecretUnreadable extends Schema.TaggedError<AppSecretUnreadable>()(
  "AppSecretUnreadable",
  {
    message: Schema.String
  }
) {}

export const mac = (key: DerivedKey, text: string): string =>
  createHmac("sha256", key.secret).update(text).digest("base64url")

/**
 * Compares two strings in a time that depends only on their length, so that the time does not
 * reveal how much of a guessed secret is correct.
 */
export const isSameText = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/**
 * Compares a secret with the text that a client has sent. The time of the comparison reveals
 * neither how much of the text is correct nor how long the secret is.
 */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other))

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * Encrypts a text with AES-256-GCM as `<key id>.<nonce><tag><ciphertext>`. The context is
 * authenticated, so a ciphertext that was copied to another row cannot be decrypted.
 */
export const seal = (ring: KeyRing, context: string, text: string): string => {
  const [key] = ring
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key.secret, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return `${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")}`
}

/** Decrypts a text. Throws if no key of the ring encrypted the text, or if it was altered. */
export const unseal = (ring: KeyRing, context: string, sealed: string): string => {
  const [id, data] = sealed.split(".", 2)
  const key = ring.find((candidate) => candidate.id === id)
  if (key === undefined || data === undefined) {
    throw new Error("encrypted with a secret that is neither APP_SECRET nor in APP_SECRET_PREVIOUS")
  }
  const bytes = Buffer.from(data, "base64url")
  const decipher = createDecipheriv("aes-256-gcm", key.secret, bytes.subarray(0, 12), {
    authTagLength: 16
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(12, 28))
  return decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8")
}

/**
 * Like `unseal`, but returns undefined if the `APP_SECRET` that encrypted the text is no longer
 * configured.
 */
export const unsealIfKnown = (
  ring: KeyRing,
  context: string,
  sealed: string
): string | undefined => {
  try {
    return unseal(ring, context, sealed)
  } catch {
    return undefined
  }
}

/** Encrypts a value that a browser stores until it expires. `unsealExpiringValue` decrypts it. */
export const sealExpiringValue = (
  ring: KeyRing,
  context: string,
  value: unknown,
  untilMs: number
): string => seal(ring, context, JSON.stringify([value, untilMs]))

/** Returns undefined if the value was not encrypted by this service or has expired. */
export const unsealExpiringValue = <A>(
  ring: KeyRing,
  context: string,
  sealed: string,
  nowMs: number
): A | undefined => {
  const text = unsealIfKnown(ring, context, sealed)
  if (text === undefined) return undefined
  const [value, untilMs] = JSON.parse(text) as [A, number]
  return untilMs > nowMs ? value : undefined
}

const derive = (secret: Redacted.Redacted, info: string, length: number) =>
  Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", `scheduling-service/${info}`, length))

export const makeSecrets = (secrets: KeyRingOf<Redacted.Redacted>) => {
  const ring = (purpose: KeyPurpose): KeyRing => {
    const key = (secret: Redacted.Redacted): DerivedKey => ({
      id: derive(secret, `${purpose}/id`, 6).toString("hex"),
      secret: createSecretKey(derive(secret, purpose, 32))
    })
    const [current, ...retired] = secrets
    return [key(current), ...retired.map(key)]
  }
  const rings: Record<KeyPurpose, KeyRing> = {
    check: ring("check"),
    "api-key": ring("api-key"),
    "client-secret": ring("client-secret"),
    jwt: ring("jwt"),
    "signing-secret": ring("signing-secret"),
    "login-throttle": ring("login-throttle"),
    "idempotent-request": ring("idempotent-request"),
    "idempotent-answer": ring("idempotent-answer"),
    lane: ring("lane"),
    "link-token": ring("link-token"),
    "passkey-challenge": ring("passkey-challenge"),
    "provider-sign-in": ring("provider-sign-in"),
    "provider-token": ring("provider-token"),
    totp: ring("totp"),
    "recovery-code": ring("recovery-code"),
    "audit-chain": ring("audit-chain"),
    "ping-url": ring("ping-url"),
    "ping-url-shown": ring("ping-url-shown"),
    "trigger-url": ring("trigger-url"),
    "trigger-url-shown": ring("trigger-url-shown"),
    "trigger-secret": ring("trigger-secret"),
    "notification-channel": ring("notification-channel"),
    "notification-link": ring("notification-link"),
    "worker-token": ring("worker-token"),
    completion: ring("completion"),
    secret: ring("secret"),
    "access-token": ring("access-token"),
    "status-page": ring("status-page")
  }
  return Secrets.of({ keys: (purpose) => rings[purpose] })
}

/**
 * Reads the secret of the embedded store from a file next to the data, and creates the file if it
 * is missing. Only the file's owner can read it.
 */
const readOrCreateSecret = (dataDir: string) => {
  const file = path.join(dataDir, "app-secret")
  return Effect.tryPromise({
    try: async () => {
      makeFolder(dataDir)
      const secret = await fs.readFile(file, "utf8").catch(async (error: unknown) => {
        if (!isCode(error, "ENOENT")) throw error
        await createSecretFile(file)
        return fs.readFile(file, "utf8")
      })
      if (Buffer.byteLength(secret) < 32) throw new Error("it is shorter than 32 bytes")
      return Redacted.make(secret, { label: "APP_SECRET" })
    },
    catch: (cause) =>
      new AppSecretUnreadable({
        message: `cannot read or create the application secret ${file}: ${cause instanceof Error ? cause.message : cause}`
      })
  })
}

/**
 * Writes the file atomically, because the process may die at any time. Never replaces a file,
 * because two processes may start at the same time.
 */
const createSecretFile = async (file: string) => {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`
  try {
    const secret = randomBytes(48).toString("base64url")
    await fs.writeFile(temporary, secret, { mode: 0o600, flag: "wx", flush: true })
    await fs.link(temporary, file)
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error
  } finally {
    await fs.rm(temporary, { force: true })
  }
}

const isCode = (error: unknown, code: string) =>
  error instanceof Error && "code" in error && error.code === code
