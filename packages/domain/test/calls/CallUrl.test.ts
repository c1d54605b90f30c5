import { CallUrl, parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const accepts = Schema.is(CallUrl)

describe("CallUrl", () => {
  it.each([
    "https://example.com",
    "HTTP://EXAMPLE.COM:8080/a?b=c#d",
    "https://example.com./path",
    "https://bücher.example/ä?q=ö",
    "http://[::1]:8080/",
    "http://10.0.0.1/allowed-here-and-judged-when-called",
    "https://example.com/path with spaces",
    `https://example.com/${"a".repeat(2048 - 20)}`
  ])("accepts %s", (url) => {
    assert.isTrue(accepts(url))
  })

  it.each([
    "",
    "example.com",
    "//example.com/",
    "/path",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https:example.com",
    "https:/example.com",
    "https://",
    "https://?query",
    "https://user@example.com/",
    "https://user:pass@example.com/",
    "https://:pass@example.com/",
    " https://example.com/",
    "https://example.com/\n",
    "https://exam\tple.com/",
    "https://example.com/a\r\nHost: evil",
    "https://example.com/\u0000",
    "https://example.com/\ud800",
    "https://exa mple.com/",
    "http://[::1",
    "http://[fe80::1%25eth0]/",
    "http://256.1.1.1/",
    "http://example.com:65536/",
    `https://example.com/${"a".repeat(2048 - 19)}`
  ])("refuses %j", (url) => {
    assert.isFalse(accepts(url))
  })

  it.each([
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f000001/", "127.0.0.1"],
    ["http://017700000001/", "127.0.0.1"],
    ["http://127.1/", "127.0.0.1"],
    ["http://127.0.0.1./", "127.0.0.1"],
    ["http://①②⑦.0.0.1/", "127.0.0.1"],
    ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
    ["http://example.com\\@10.0.0.1/", "example.com"]
  ])("reads %s as a call to %s", (text, hostname) => {
    assert.strictEqual(Result.getOrThrow(parseCallUrl(text)).hostname, hostname)
  })
})
