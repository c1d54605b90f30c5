import { describe, expect, it } from "vitest"
import { readPasted } from "../src/tasks/call/paste.ts"
import { shellWords } from "../src/tasks/call/shellWords.ts"
import { curlOf } from "../src/executions/curl.ts"

describe("a pasted text", () => {
  it.each([
    ["0 3 * * *", { schedule: "0 3 * * *" }],
    ["*/5  9-17\t* * 1-5  /usr/bin/true", { schedule: "*/5 9-17 * * 1-5" }],
    ["0 9 * jan mon", { schedule: "0 9 * jan mon" }],
    ["@daily /usr/local/bin/backup", { schedule: "0 0 * * *" }],
    [
      "0 3 * * * curl -fsS -XPOST https://api.example.com/nightly >/dev/null 2>&1",
      { schedule: "0 3 * * *", method: "POST", url: "https://api.example.com/nightly" }
    ],
    ["curl example.com", { method: "GET", url: "http://example.com", body: "" }],
    [
      `curl 'https://api.example.com/a?b=c' \\
        -H 'Authorization: Bearer x' --header="X-Note: it's \\"here\\"" \\
        --data-raw $'{"a":1}'`,
      { method: "POST", url: "https://api.example.com/a?b=c" }
    ],
    ["curl -m 9.5 -o out.txt --retry 3 https://a.example", { timeout_seconds: "10" }],
    [
      "curl -u ada:secret https://a.example",
      { headers: [["authorization", "Basic YWRhOnNlY3JldA=="]] }
    ],
    [
      "curl -d a=1 -d b=2 https://a.example",
      { body: "a=1&b=2", headers: [["content-type", "application/x-www-form-urlencoded"]] }
    ],
    [
      `curl --json '{"a":1}' https://a.example`,
      { body: '{"a":1}', headers: [["content-type", "application/json"]] }
    ],
    ["curl -I https://a.example && rm -rf /", { method: "HEAD", url: "https://a.example" }]
  ])("%s is understood", (text, expected) => {
    expect(readPasted(text)).toMatchObject(expected)
  })

  it.each(["", "hello", "curl", "curl -H", "1 2 3", "wget https://a.example"])(
    "%j is nothing that is understood",
    (text) => {
      expect(readPasted(text)).toBeUndefined()
    }
  )

  it("is read in a time that grows with its length alone", () => {
    for (const part of ["'", '"', "\\", "* ", "-H ", "0-0,"]) {
      readPasted(`curl ${part.repeat(100_000)}`)
      readPasted(part.repeat(100_000))
    }
  })
})

describe("the words of a command", () => {
  it.each([
    [`a  b\tc\n d`, ["a", "b", "c", "d"]],
    [`a 'b c' "d \\"e\\" $f"`, ["a", "b c", `d "e" $f`]],
    [`a\\ b '' ""`, ["a b", "", ""]],
    [`a \\\n b`, ["a", "b"]],
    [`it'\\''s`, ["it\\s"]]
  ])("%j", (command, words) => {
    expect(shellWords(command).slice(0, words.length)).toEqual(words)
  })
})

describe("a call as a command", () => {
  it("comes back as it was, whatever is in it", () => {
    const call = {
      method: "POST",
      url: "https://a.example/?q='$(id)`&x=\"",
      headers: { "x-note": `it's $HOME \\ "quoted"` },
      body: `{"a":"'; rm -rf / #"}\nsecond line`
    } as const
    const read = readPasted(curlOf(call, "an-id"))
    expect(read).toMatchObject({ method: call.method, url: call.url, body: call.body })
    expect(read?.headers).toEqual([
      ["x-note", call.headers["x-note"]],
      ["content-type", "application/json"],
      ["idempotency-key", "an-id"]
    ])
  })
})
