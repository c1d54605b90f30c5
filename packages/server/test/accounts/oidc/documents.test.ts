import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AppConfig } from "../../../src/core/config/Config.ts"

const page = readFileSync(new URL("../../../../../docs/signing-in.md", import.meta.url), "utf8")

const blocks = [...page.matchAll(/^```ini\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text)

/** Returns the settings in a code block. The client secret is read from a file. */
const settingsOf = (block: string, secretFile: string) =>
  Object.fromEntries(
    block
      .trim()
      .split("\n")
      .map((line) => {
        const [name = "", ...value] = line.split("=")
        return [name, name.endsWith("_FILE") ? secretFile : value.join("=")]
      })
  )

describe("the settings in docs/signing-in.md", () => {
  it("are those of six providers and cases", () => {
    assert.isAtLeast(blocks.length, 6)
  })

  it.effect.each(
    blocks.map(
      (block) => [/(?:OIDC_ISSUER|AUTH_PROXY_HEADER)=(\S*)/.exec(block)?.[1], block] as const
    )
  )("%s are valid", ([, block]) =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "signing-in-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const file = join(folder, "secret")
      writeFileSync(file, "a secret\n")
      const { authProxyHeader, oidc } = yield* Effect.provide(AppConfig, AppConfig.layer).pipe(
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnv({ env: settingsOf(block, file) })
        )
      )
      if (authProxyHeader !== undefined) {
        assert.include(block, `AUTH_PROXY_HEADER=${authProxyHeader}\n`)
        return
      }
      assert.include(block, `OIDC_ISSUER=${oidc?.issuer}\n`)
      assert.isDefined(oidc?.clientSecret)
    })
  )
})
