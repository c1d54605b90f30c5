import { Effect, type Redacted } from "effect"
import { createHmac } from "node:crypto"
import { Secrets } from "../../../src/core/Secrets.ts"

/** Derives the signing key from a secret, as an attacker who has the secret would. */
export const signingKey = (secret: Redacted.Redacted) =>
  Effect.map(Secrets, (secrets) => {
    const [key] = secrets.keys("jwt")
    return { id: key.id, bytes: key.secret.export() }
  }).pipe(Effect.provide(Secrets.layerFrom(secret)))

type Json = Readonly<Record<string, unknown>>

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url")

/** Creates a JWT with any header, claims and signature. Libraries refuse to create most of them. */
export const forgeJwt = (header: Json, claims: Json, sign: (input: string) => Buffer): string => {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${sign(input).toString("base64url")}`
}

export const hmac = (hash: "sha256" | "sha384" | "sha512", key: Buffer) => (input: string) =>
  createHmac(hash, key).update(input).digest()

export const noSignature = () => Buffer.alloc(0)

/** Decodes a token's header and claims without verifying its signature. */
export const decodeJwt = (token: string) => {
  const [header, claims] = token
    .split(".")
    .slice(0, 2)
    .map((part): Json => JSON.parse(Buffer.from(part, "base64url").toString()))
  return { header: header ?? {}, claims: claims ?? {} }
}
