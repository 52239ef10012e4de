package sdkgen

import "path"

// The folders of the packages in the repository, with what is made.
const (
	pythonFolder     = "sdk/python/src/amber_memory"
	typescriptFolder = "sdk/typescript/src/generated"
)

// Generate makes the files of both packages from the OpenAPI document, by their path in the repository.
func Generate(openapi []byte) (map[string]string, error) {
	a, err := read(openapi)
	if err != nil {
		return nil, err
	}
	out := map[string]string{
		path.Join(pythonFolder, "_models.py"):     pythonModels(a),
		path.Join(pythonFolder, "_operations.py"): pythonOperations(a),

		path.Join(typescriptFolder, "models.ts"):     typescriptModels(a),
		path.Join(typescriptFolder, "operations.ts"): typescriptOperations(a),
	}
	return out, nil
}
