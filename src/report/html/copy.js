
"use strict";
const announce = document.querySelector(".announce");

/** What a button stands for: its own step, or all steps of a remedy. */
function codes(button) {
  const place = button.closest(button.classList.contains("all") ? ".steps" : ".code");
  return [...place.querySelectorAll("code")];
}

/** Selects the text and copies it as Ctrl-C would, for where there is no clipboard to write to. */
function copySelected(all) {
  const range = document.createRange();
  range.setStartBefore(all[0]);
  range.setEndAfter(all[all.length - 1]);
  const selection = window.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return document.execCommand("copy");
}

async function copy(button) {
  const all = codes(button);
  let copied = true;
  try {
    await navigator.clipboard.writeText(all.map((code) => code.textContent).join("\n\n"));
  } catch {
    copied = copySelected(all);
  }
  const before = button.dataset.word;
  const word = copied ? "Copied" : "Press Ctrl-C";
  button.textContent = word;
  announce.textContent = word;
  setTimeout(() => {
    button.textContent = before;
    announce.textContent = "";
  }, 2000);
}

for (const button of document.querySelectorAll("button.copy")) {
  button.dataset.word = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
