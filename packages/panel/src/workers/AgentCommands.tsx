import { Snippets } from "../ui/values/Code.tsx"

const run = "run --allow 10.0.0.0/8"

/**
 * The commands that start an agent from a clone of the repository or from an image built from it.
 * They do not use an npm package, because none is published yet, and anybody who registered its
 * name could read the token.
 */
export const AgentCommands = ({ token }: { readonly token: string }) => {
  const environment = `export SCHEDULING_URL=${location.origin}
export SCHEDULING_WORKER_TOKEN=${token}`
  const image =
    "docker run --rm --env SCHEDULING_URL --env SCHEDULING_WORKER_TOKEN scheduling-agent"
  return (
    <Snippets
      label="Start the agent"
      snippets={[
        [
          "Clone",
          `# In a clone of the repository, after npm install
${environment}
npx node packages/agent/src/main.ts check
npx node packages/agent/src/main.ts ${run}`
        ],
        [
          "Image",
          `# In a clone of the repository
docker build --file packages/agent/Dockerfile --tag scheduling-agent .
${environment}
${image} check
${image} ${run}`
        ]
      ]}
    />
  )
}
