import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { timingSafeEqual } from "node:crypto"
import { AppConfig, mac, Secrets } from "../../core/index.ts"

/**
 * The attempt that a completion URL belongs to. Anybody with the URL may report the result of this
 * attempt, and do nothing else.
 */
export interface CompletionTarget {
  readonly workspace_id: string
  readonly id: string
  /**
   * The number of the attempt. A retry, or an attempt on another node, has a different number, so
   * the URL is valid for one attempt only.
   */
  readonly attempt: number
}

export const hasCompletionUrl = (options: CallOptions | null): boolean =>
  options?.completion !== undefined

/**
 * The URLs to which jobs report that they have finished. They are not stored: the token contains
 * the attempt and is signed.
 */
export class CompletionUrls extends Context.Service<
  CompletionUrls,
  {
    readonly make: (attempt: CompletionTarget) => string
    /** Returns undefined unless this service has signed the token. */
    readonly read: (token: string) => CompletionTarget | undefined
  }
>()("@scheduling/server/engine/completions/CompletionUrls") {
  static readonly layer: Layer.Layer<
    CompletionUrls,
    never,
    AppConfig | Secrets | HttpServer.HttpServer
  > = Layer.effect(
    CompletionUrls,
    Effect.gen(function* () {
      const { publicUrl } = yield* AppConfig
      const { address } = yield* HttpServer.HttpServer
      const secrets = yield* Secrets
      return makeCompletionUrls(secrets, publicUrl ?? HttpServer.formatAddress(address))
    })
  )
}

/** `base` is the URL at which jobs reach the service. */
export const makeCompletionUrls = (
  secrets: Secrets["Service"],
  base: string
): CompletionUrls["Service"] => {
  const ring = secrets.keys("completion")
  return {
    make: (attempt) => {
      const named = packed(attempt)
      return `${base}/complete/${named}${mac(ring[0], named)}`
    },
    read: (token) => {
      if (!tokenPattern.test(token)) return undefined
      const named = token.slice(0, namedLength)
      const signature = Buffer.from(token.slice(namedLength))
      return ring.some((key) => timingSafeEqual(Buffer.from(mac(key, named)), signature))
        ? unpacked(named)
        : undefined
    }
  }
}

const uuidBytes = 16
const namedBytes = 2 * uuidBytes + 4

/** The length in base64url. There is no padding, because `namedBytes` is a multiple of three. */
const namedLength = (namedBytes * 4) / 3

/**
 * Matches a token: the encoded attempt, followed by a signature of 43 characters (HMAC-SHA-256).
 */
const tokenPattern = new RegExp(`^[\\w-]{${namedLength + 43}}$`)

const packed = ({ attempt, id, workspace_id }: CompletionTarget): string => {
  const bytes = Buffer.alloc(namedBytes)
  bytes.write((workspace_id + id).replaceAll("-", ""), "hex")
  bytes.writeUInt32BE(attempt, 2 * uuidBytes)
  return bytes.toString("base64url")
}

const unpacked = (named: string): CompletionTarget => {
  const bytes = Buffer.from(named, "base64url")
  return {
    workspace_id: uuidOf(bytes.subarray(0, uuidBytes)),
    id: uuidOf(bytes.subarray(uuidBytes, 2 * uuidBytes)),
    attempt: bytes.readUInt32BE(2 * uuidBytes)
  }
}

const uuidOf = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
