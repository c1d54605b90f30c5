/** Submits the form on Ctrl+Enter and ⌘+Enter, also from a text area. */
export const submitByKeys = (): void =>
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    if (!(event.target instanceof Element)) return
    // A confirmation dialog may be inside of a form. The keys are not meant for that form.
    const form = event.target.closest("form, dialog")
    if (!(form instanceof HTMLFormElement)) return
    event.preventDefault()
    form.querySelector<HTMLButtonElement>("button[type=submit]")?.click()
  })
