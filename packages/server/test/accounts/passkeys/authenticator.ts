import { isoCBOR } from "@simplewebauthn/server/helpers"
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")
const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest()

interface Situation {
  readonly origin: string
  readonly rpId: string
  readonly challenge: string
  readonly isUserVerified?: boolean
}

/** Creates a device with one passkey that counts its uses. The device signs every challenge. */
export const makeAuthenticator = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x = "", y = "" } = publicKey.export({ format: "jwk" })
  const id = randomBytes(32)
  let counter = 0

  const dataOf = ({ isUserVerified = true, rpId }: Situation, flags: number, rest: Uint8Array) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const all = flags | 1 | (isUserVerified ? 4 : 0)
    return Buffer.concat([sha256(rpId), Buffer.from([all]), count, rest])
  }

  const clientDataOf = (type: string, { challenge, origin }: Situation) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  const credential = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: "public-key",
    clientExtensionResults: {},
    response
  })

  return {
    /** Resets the counter, as if the device had been copied earlier. */
    setCounter: (to: number) => {
      counter = to
    },

    register: (situation: Situation) => {
      const key = isoCBOR.encode(
        new Map<number, number | Uint8Array>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, new Uint8Array(Buffer.from(x, "base64url"))],
          [-3, new Uint8Array(Buffer.from(y, "base64url"))]
        ])
      )
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
      const authData = new Uint8Array(dataOf(situation, 0x40, attested))
      const attestation = new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData]
      ])
      return credential({
        clientDataJSON: base64url(clientDataOf("webauthn.create", situation)),
        attestationObject: base64url(
          isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0])
        )
      })
    },

    signIn: (situation: Situation) => {
      counter += 1
      const authenticatorData = dataOf(situation, 0, new Uint8Array())
      const clientData = clientDataOf("webauthn.get", situation)
      const signed = Buffer.concat([authenticatorData, sha256(clientData)])
      return credential({
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(sign("sha256", signed, privateKey))
      })
    }
  }
}
