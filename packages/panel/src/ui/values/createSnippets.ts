/** How to create something by API: a POST to a URL, and the method of the client that sends it. */
export const createSnippets = (
  url: string,
  method: string,
  input: object
): ReadonlyArray<readonly [name: string, text: string]> => {
  const json = JSON.stringify(input, null, 2)
  return [
    [
      "curl",
      `curl ${url} \\
  -H "authorization: Bearer $KEY" \\
  -H "content-type: application/json" \\
  -d '${json}'`
    ],
    [
      "TypeScript",
      `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({
  baseUrl: "${new URL(url).origin}",
  apiKey: process.env.KEY
})

await client.${method}(${json.replaceAll(/"(\w+)":/g, "$1:")})`
    ]
  ]
}
