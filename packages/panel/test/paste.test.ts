import { describe, expect, it } from "vitest"
import { parsePaste, parsePastedCall } from "../src/tasks/call/paste.ts"
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
    ["curl -I https://a.example && rm -rf /", { method: "HEAD", url: "https://a.example" }],
    ["curl -sX POST https://a.example", { method: "POST", url: "https://a.example" }],
    [
      "curl -sSX POST -H 'x-a: b' -d '{}' https://a.example; echo done",
      { method: "POST", url: "https://a.example", headers: [["x-a", "b"]], body: "{}" }
    ],
    ["curl -fsSm 10 https://a.example", { timeout_seconds: "10", url: "https://a.example" }],
    [
      `curl -sSLd '{"a":1}' https://a.example|jq .`,
      { method: "POST", url: "https://a.example", body: '{"a":1}' }
    ],
    [
      "curl --data-urlencode 'q=héllo you' --data-urlencode '=a&b' https://a.example",
      { method: "POST", url: "https://a.example", body: "q=h%C3%A9llo%20you&a%26b" }
    ],
    [
      "curl -G -d a=1 --data-urlencode 'b=1 2' https://a.example/?c=3",
      { method: "GET", url: "https://a.example/?c=3&a=1&b=1%202", body: "" }
    ],
    ["curl -F file=@a.txt https://a.example", { method: "POST", url: "https://a.example" }],
    ["curl --noproxy a.example -E me.pem b.example", { url: "http://b.example" }],
    [
      "curl -u 'zoë:пароль' https://a.example",
      { headers: [["authorization", "Basic em/DqzrQv9Cw0YDQvtC70Yw="]] }
    ],
    [
      String.raw`curl --data-raw $'it\'s\n\u0041' https://a.example`,
      { method: "POST", body: "it's\nA" }
    ]
  ])("%s is understood", (text, expected) => {
    expect(parsePaste(text)?.values).toMatchObject(expected)
  })

  it.each([
    [
      "0 3 * * * curl -fsSk --retry 3 -X POST -H 'a: b' -H 'c: d' https://a.example > /dev/null",
      "POST, URL, 2 headers, schedule",
      "-k, --retry"
    ],
    [
      "curl --data-binary @payload.json https://a.example",
      "POST, URL",
      "--data-binary @payload.json"
    ],
    ["curl -F file=@a.txt https://a.example", "POST, URL", "-F file=@a.txt"],
    ["curl -X GET -d a=1 https://a.example -m 5", "GET, URL, timeout", "the body"],
    [
      "curl -X OPTIONS https://a.example https://b.example",
      "GET, URL",
      "-X OPTIONS, https://b.example"
    ],
    ["0 3 * * 1 /usr/local/bin/backup.sh", "schedule", "/usr/local/bin/backup.sh"],
    ["@daily", "schedule", ""]
  ])("%s says what of it was used", (text, filled, ignored) => {
    const reading = parsePaste(text)
    expect(reading?.filled.join(", ")).toBe(filled)
    expect(reading?.ignored.join(", ")).toBe(ignored)
  })

  it("is read without its schedule if the form has none", () => {
    const reading = parsePastedCall("0 3 * * * curl https://a.example")
    expect(reading?.values).not.toHaveProperty("schedule")
    expect(reading?.ignored).toEqual(["the schedule"])
    expect(parsePastedCall("0 3 * * 1 /usr/local/bin/backup.sh")).toBeUndefined()
  })

  it("never throws", () => {
    const half = "\ud800"
    for (const value of ["", half, "@", "=", "'", "\\", "-", "--", "=@", `a=${half}`]) {
      for (const option of [
        "-d",
        "-u",
        "-m",
        "-X",
        "-H",
        "-F",
        "-b",
        "--data-urlencode",
        "--=",
        "-"
      ]) {
        parsePaste(`curl ${option} ${value} ${half}`)
        parsePaste(`curl a ${option}${value}`)
      }
    }
  })

  it.each(["", "hello", "curl", "curl -H", "1 2 3", "wget https://a.example"])(
    "%j is nothing that is understood",
    (text) => {
      expect(parsePaste(text)).toBeUndefined()
    }
  )

  it("is read in a time proportional to its length", () => {
    for (const part of ["'", '"', "\\", "* ", "-H ", "0-0,", "-a", "@", "=", "$'"]) {
      parsePaste(`curl ${part.repeat(100_000)}`)
      parsePaste(part.repeat(100_000))
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
  it("is read as the same call, with all characters", () => {
    const call = {
      method: "POST",
      url: "https://a.example/?q='$(id)`&x=\"",
      headers: { "x-note": `it's $HOME \\ "quoted"` },
      body: `{"a":"'; rm -rf / #"}\nsecond line`
    } as const
    const read = parsePaste(curlOf(call, "an-id"))
    expect(read?.values).toMatchObject({ method: call.method, url: call.url, body: call.body })
    expect(read?.values.headers).toEqual([
      ["x-note", call.headers["x-note"]],
      ["content-type", "application/json"],
      ["idempotency-key", "an-id"]
    ])
  })
})
