/** Appends a path to the server's URL. */
export const joinUrl = (server: string, path: string): string => server.replace(/\/+$/, "") + path

export const basicAuthorization = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

export const bearerHeaders = (value: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${value}`
})

export const formBody = (fields: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, value]]
    )
  ).toString()

export const formHeaders = { "content-type": "application/x-www-form-urlencoded" }
