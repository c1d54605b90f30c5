import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/**
 * The parameters that authenticator apps expect: RFC 6238 with SHA-1, six digits and 30 seconds.
 */
const stepSeconds = 30

/** The number of time steps by which a phone's clock can be wrong. */
const toleratedSteps = 1

export const makeTotpSecret = (): Buffer => randomBytes(20)

export const timeStepAt = (now: Date): number => Math.floor(now.getTime() / 1000 / stepSeconds)

export const computeTotpCode = (secret: Uint8Array, step: number, digits = 6): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac("sha1", secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, "0")
}

/**
 * Finds the time step that a code belongs to, near the current time. All candidates are compared,
 * so that the duration does not depend on the code.
 */
export const findTimeStep = (secret: Uint8Array, code: string, now: Date): number | undefined => {
  let found: number | undefined
  for (let off = -toleratedSteps; off <= toleratedSteps; off++) {
    const step = timeStepAt(now) + off
    if (isSame(computeTotpCode(secret, step), code)) found = step
  }
  return found
}

const isSame = (right: string, code: string) =>
  /^\d{6}$/.test(code) && timingSafeEqual(Buffer.from(right), Buffer.from(code))

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Encodes bytes in base32 (RFC 4648) without padding. */
export const encodeBase32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("")
  return bits.replaceAll(/.{1,5}/g, (five) => alphabet.charAt(parseInt(five.padEnd(5, "0"), 2)))
}

export const totpUri = (secret: Uint8Array, email: string): string => {
  const issuer = "Scheduling Service"
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${encodeBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
}

/** Creates a code with 50 random bits, such as `abcde-fghij`. */
export const makeRecoveryCode = (): string => {
  const text = encodeBase32(randomBytes(7)).slice(0, 10).toLowerCase()
  return `${text.slice(0, 5)}-${text.slice(5)}`
}

/** Removes spaces and dashes, which users add for legibility. */
export const normalizeCode = (code: string): string => code.replaceAll(/[\s-]/g, "").toLowerCase()
