import type { Noun } from "./taskQueries.ts"
import { useWorkspace } from "../data/client.ts"
import { Snippets } from "../ui/values/Code.tsx"
import { createSnippets } from "../ui/values/createSnippets.ts"

/** How to make a task without the panel. */
export const TaskExamples = ({ input, noun }: { readonly noun: Noun; readonly input: object }) => {
  const { workspaceId } = useWorkspace()
  const url = `${location.origin}/v1/workspaces/${workspaceId}/${noun}`
  return (
    <div className="text-left">
      <Snippets label="The same by API" snippets={createSnippets(url, `${noun}.create`, input)} />
    </div>
  )
}
