import { assert, describe, it } from "@effect/vitest"
import { exchangeText, parseExchangeText } from "../../../src/engine/history/exchangeText.ts"

const nothing = { dns_ms: null, connect_ms: null, tls_ms: null, wait_ms: null, headers: null }

describe("the text of an exchange", () => {
  it.each([
    [{ ...nothing, wait_ms: 40 }, ",,,40"],
    [{ ...nothing, wait_ms: 0, headers: "" }, ",,,0\n"],
    [
      { dns_ms: 1, connect_ms: 2, tls_ms: 30, wait_ms: 4, headers: "date: now\nserver: x, y\n" },
      "1,2,30,4\ndate: now\nserver: x, y\n"
    ]
  ])("%o is %j and reads back", (exchange, text) => {
    assert.strictEqual(exchangeText(exchange), text)
    assert.deepStrictEqual(parseExchangeText(text), exchange)
  })

  it("is null if nothing was sent", () => {
    assert.isNull(exchangeText(null))
    assert.deepStrictEqual(parseExchangeText(null), nothing)
  })
})
