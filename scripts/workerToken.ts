/** Creates an account and a worker on a new service. Returns the worker's token. */
export const workerToken = async (url: string): Promise<string> => {
  const post = async (path: string, body: object, token?: string) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
      },
      body: JSON.stringify(body)
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  const account = { email: "agent@example.com", password: "correct horse battery staple" }
  const { workspace } = await post("/v1/auth/register", account)
  const { access_token } = await post("/v1/auth/login", account)
  const workers = `/v1/workspaces/${workspace.id}/workers`
  return (await post(workers, { name: "packed" }, access_token)).token
}
