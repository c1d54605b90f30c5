import { assert, describe, it } from "@effect/vitest"
import { type Argon2, nodeArgon2, nodeRsArgon2 } from "../../../src/accounts/passwords/argon2.ts"

const backends: Readonly<Record<string, Argon2>> = {
  "the binding": await nodeRsArgon2(),
  "Node's own": nodeArgon2()
}
const parameters = { memoryCost: 64, timeCost: 2, parallelism: 1 }
const password = "pässword 密码"

describe("Argon2", () => {
  for (const [maker, { hash }] of Object.entries(backends)) {
    for (const [verifier, { verify }] of Object.entries(backends)) {
      it(`hashes of ${maker} are verified by ${verifier}`, async () => {
        const made = await hash(password, parameters)
        assert.match(made, /^\$argon2id\$v=19\$m=64,t=2,p=1\$[^$=]{22}\$[^$=]{43}$/)
        assert.isTrue(await verify(made, password))
        assert.isFalse(await verify(made, `${password} `))
        assert.isFalse(await verify(made, ""))
      })
    }

    it(`hashes of ${maker} have a new salt each time`, async () => {
      assert.notStrictEqual(await hash(password, parameters), await hash(password, parameters))
    })

    it(`hashes of ${maker} accept bytes and text`, async () => {
      const made = await hash(Buffer.from(password), parameters)
      assert.isTrue(await backends["the binding"]?.verify(made, password))
    })

    it(`${maker} refuses to verify other texts`, async () => {
      const { verify } = backends[maker]!
      for (const text of ["", "nonsense", "$argon2id$v=19$m=64,t=2,p=1$c2FsdA"]) {
        assert.strictEqual(await verify(text, password).catch(() => "refused"), "refused")
      }
    })
  }
})
