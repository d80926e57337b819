// `require` and `import` give one copy, so that an error class or an entity is the same whoever loaded it.
const assert = require('node:assert/strict');
const required = require('mikro-orm-jobs');

import('mikro-orm-jobs').then(imported => {
  assert.equal(required.Jobs, imported.Jobs);
  assert.equal(required.jobEntities, imported.jobEntities);
});
